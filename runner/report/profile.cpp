#include "report/launches.hpp"

#include "core/kernel_name.hpp"
#include "core/version.hpp"
#include "os/number_text.hpp"
#include "os/text.hpp"
#include "profile/metrics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

namespace kzoo::report {
namespace {

namespace metric = profile::metric;
using profile::launch;
using profile::profiled;

constexpr std::size_t kStallsShown = 3;

// Exact below a million, then rounded with a unit.
std::string count_text(std::optional<double> count) {
  if (!count) return "";
  constexpr double kMega = 1e6, kGiga = 1e9;
  if (*count < kMega) return fmt::format("{:.0f}", *count);
  if (*count < kGiga) return number_text(*count / kMega) + " M";
  return number_text(*count / kGiga) + " G";
}

std::string percent_text(std::optional<double> percent) {
  return percent ? fmt::format("{:.1f}%", *percent) : "";
}

std::string ratio_text(std::optional<double> over, std::optional<double> under) {
  return over && under && *under > 0 ? fmt::format("{:.2f}", *over / *under) : "";
}

std::string duration_text(std::optional<double> nanoseconds) {
  return nanoseconds ? time_text(*nanoseconds / 1e6) : "";
}

// The most frequent stall reasons, worst first.
std::vector<std::string> stall_texts(const launch& l) {
  std::vector<std::pair<double, std::string>> found;
  for (const auto& [words, name] : metric::stalls())
    if (const auto warps = l.value(name); warps && *warps > 0) found.emplace_back(*warps, words);
  std::ranges::sort(found, std::ranges::greater{});
  std::vector<std::string> texts;
  for (const auto& [warps, words] : found) texts.push_back(fmt::format("{} {:.2f}", words, warps));
  texts.resize(kStallsShown);
  return texts;
}

using profile_row = named_launch<launch>;
using profile_columns = std::vector<column<profile_row>>;

column<profile_row> percent(const char* title, const char* m) {
  return {title, [m](const profile_row& r) { return percent_text(r.launch->value(m)); }};
}
column<profile_row> count(const std::string& title, const char* m) {
  return {title, [m](const profile_row& r) { return count_text(r.launch->value(m)); }};
}
column<profile_row> quotient(const std::string& title, const char* over, const char* under) {
  return {title, [=](const profile_row& r) {
            return ratio_text(r.launch->value(over), r.launch->value(under));
          }};
}

profile_columns launch_columns() {
  constexpr auto kRight = table::align::right;
  return {
      {"launched", [](const profile_row& r) { return kernel_text(r.launch->kernel); },
       table::align::left, 0, style::dim},
      {"grid", [](const profile_row& r) { return extent_text(r.launch->grid); }, kRight, 0,
       style::dim},
      {"block", [](const profile_row& r) { return extent_text(r.launch->block); }, kRight, 0,
       style::dim},
      {"time", [](const profile_row& r) { return duration_text(r.launch->value(metric::kTime)); }},
      percent("occupancy", metric::kOccupancy),
      percent("FMA\npipe", metric::kFma),
      percent("tensor\npipe", metric::kTensor),
      count("FFMA", metric::kFfma),
      percent("L1", metric::kL1),
      percent("L2", metric::kL2),
      percent("DRAM", metric::kDram)};
}

profile_columns memory_columns() {
  profile_columns all;
  const auto add = [&](const std::string& what, const char* requests, const char* sectors) {
    all.push_back(count(what + "\nrequests", requests));
    all.push_back(count(what + "\nsectors", sectors));
    all.push_back(quotient(what + " sectors\nper request", sectors, requests));
  };
  add("load", metric::kLoadRequests, metric::kLoadSectors);
  add("store", metric::kStoreRequests, metric::kStoreSectors);
  add("cp.async", metric::kCopyRequests, metric::kCopySectors);
  // Few kernels copy asynchronously.
  for (std::size_t i = all.size() - 3; i < all.size(); ++i) {
    all[i].field = [field = all[i].field](const profile_row& r) {
      return r.launch->value(metric::kCopyRequests) == 0.0 ? table::field() : field(r);
    };
  }
  all.push_back(
      quotient("load wavefronts\nper request", metric::kLoadWavefronts, metric::kLoadRequests));
  all.push_back(count("shared\nwavefronts", metric::kSharedWavefronts));
  all.push_back(count("conflicts\nof loads", metric::kLoadConflicts));
  all.push_back(count("conflicts\nof stores", metric::kStoreConflicts));
  return all;
}

profile_columns stall_columns() {
  profile_columns all;
  for (const char* title : {"warps wait most on", "then on", "and on"}) {
    all.push_back({title,
                   [i = all.size()](const profile_row& r) { return stall_texts(*r.launch).at(i); },
                   table::align::left});
  }
  return all;
}

void add_remarks(page& p, const profiled& c) {
  if (!c.found) return add_failed(p, c);
  if (!c.found->printed.empty()) {
    p.item(fmt::format("{}: what ncu printed", c.kernel.name()));
    p.verbatim(lines_of(c.found->printed));
  }
  if (!c.found->report.empty())
    p.item(fmt::format("{}: ncu's report is {}", c.kernel.name(), c.found->report));
}

// Each list of missing metrics once, with the kernels that lack them.
void add_missing(page& p, const std::vector<const profiled*>& cells) {
  std::map<std::vector<std::string>, std::vector<std::string>> kernels;
  for (const profiled* c : cells) {
    if (c->found && !c->found->missing.empty())
      kernels[c->found->missing].push_back(c->kernel.name());
  }
  constexpr std::size_t kMaxNamed = 4;
  for (const auto& [metrics, names] : kernels) {
    p.item(fmt::format("{}: left out, since this ncu does not have them on this GPU: {}",
                       fmt::join(names, ", "), some_of(metrics, kMaxNamed)));
  }
}

}  // namespace

std::string extent_text(std::span<const std::uint32_t> extent) {
  while (extent.size() > 1 && extent.back() == 1) extent = extent.first(extent.size() - 1);
  return fmt::format("{}", fmt::join(extent, "x"));
}

std::string kernel_text(const std::string& demangled) {
  constexpr std::size_t kLongest = 60;
  std::string text = short_kernel_name(demangled);
  if (text.size() > kLongest) text = text.substr(0, kLongest - 1) + "…";
  return text;
}

void add_profile(page& p, const profile::document& d) {
  p.line(std::filesystem::path(d.experiment).filename().string(), style::bold,
         fmt::format(" on {} ({}), kernel-zoo {}, ncu {}", d.device.id, d.device.name, kVersion,
                     d.ncu_version));
  p.end_section();
  for_each_problem(d.cells, [&](const problem& at, const std::vector<const profiled*>& cells) {
    p.line(problem_name(at), style::bold);
    for (const profile_columns& shown : {launch_columns(), memory_columns(), stall_columns()})
      add_launches(p, "kernel", shown, cells, [](const launch&) { return true; });
    for (const profiled* c : cells) add_remarks(p, *c);
    add_missing(p, cells);
    p.end_section();
  });
}

}  // namespace kzoo::report
