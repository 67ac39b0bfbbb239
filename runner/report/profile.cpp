#include "report/profile.hpp"

#include "core/kernel_name.hpp"
#include "core/version.hpp"
#include "os/number_text.hpp"
#include "os/text.hpp"
#include "profile/metrics.hpp"
#include "report/launches.hpp"

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

table launch_table() {
  table t;
  t.add_columns({"kernel", "launched"}, table::align::left);
  t.add_columns({"grid", "block", "time", "occupancy", "FMA\npipe", "tensor\npipe", "FFMA", "L1",
                 "L2", "DRAM"});
  return t;
}

std::vector<table::field> launch_row(const std::string& name, const launch& l) {
  const auto percent = [&](const char* m) { return table::field{percent_text(l.value(m))}; };
  return {{name},
          {kernel_text(l.kernel), style::dim},
          {extent_text(l.grid), style::dim},
          {extent_text(l.block), style::dim},
          {duration_text(l.value(metric::kTime))},
          percent(metric::kOccupancy),
          percent(metric::kFma),
          percent(metric::kTensor),
          {count_text(l.value(metric::kFfma))},
          percent(metric::kL1),
          percent(metric::kL2),
          percent(metric::kDram)};
}

table memory_table() {
  table t;
  t.add_column("kernel", table::align::left);
  for (const char* what : {"load", "store", "cp.async"}) {
    t.add_columns({fmt::format("{}\nrequests", what), fmt::format("{}\nsectors", what),
                   fmt::format("{} sectors\nper request", what)});
  }
  t.add_columns({"load wavefronts\nper request", "shared\nwavefronts", "conflicts\nof loads",
                 "conflicts\nof stores"});
  return t;
}

std::vector<table::field> memory_row(const std::string& name, const launch& l) {
  std::vector<table::field> fields{{name}};
  const auto add = [&](const char* request_metric, const char* sector_metric, bool is_rare) {
    const auto requests = l.value(request_metric), sectors = l.value(sector_metric);
    if (is_rare && requests == 0.0) return fields.resize(fields.size() + 3);
    fields.push_back({count_text(requests)});
    fields.push_back({count_text(sectors)});
    fields.push_back({ratio_text(sectors, requests)});
  };
  add(metric::kLoadRequests, metric::kLoadSectors, false);
  add(metric::kStoreRequests, metric::kStoreSectors, false);
  add(metric::kCopyRequests, metric::kCopySectors, true);
  fields.push_back({ratio_text(l.value(metric::kLoadWavefronts), l.value(metric::kLoadRequests))});
  for (const char* m : {metric::kSharedWavefronts, metric::kLoadConflicts, metric::kStoreConflicts})
    fields.push_back({count_text(l.value(m))});
  return fields;
}

table stall_table() {
  table t;
  t.add_columns({"kernel", "warps wait most on", "then on", "and on"}, table::align::left);
  return t;
}

std::vector<table::field> stall_row(const std::string& name, const launch& l) {
  std::vector<table::field> fields{{name}};
  for (std::string& text : stall_texts(l)) fields.push_back({std::move(text)});
  return fields;
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
    add_launches(p, launch_table(), cells, launch_row);
    add_launches(p, memory_table(), cells, memory_row);
    add_launches(p, stall_table(), cells, stall_row);
    for (const profiled* c : cells) add_remarks(p, *c);
    add_missing(p, cells);
    p.end_section();
  });
}

}  // namespace kzoo::report
