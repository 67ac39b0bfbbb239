#include "core/kernel_name.hpp"
#include "core/version.hpp"
#include "os/text.hpp"
#include "report/launches.hpp"

#include <fmt/ranges.h>

#include <filesystem>
#include <map>
#include <optional>
#include <utility>

namespace kzoo::report {
namespace {

namespace metric = profile::metric;
using profile::launch;
using profile::profiled;

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

std::vector<table::entry> launch_entries(const launch& l) {
  const auto percent = [&](const char* title, const char* m) {
    return table::entry{title, percent_text(l.value(m))};
  };
  std::vector<table::entry> all = launched(l);
  all.insert(all.end(), {{"time", duration_text(l.value(metric::kTime))},
                         percent("occupancy", metric::kOccupancy),
                         percent("FMA\npipe", metric::kFma),
                         percent("tensor\npipe", metric::kTensor),
                         {"FFMA", count_text(l.value(metric::kFfma))},
                         percent("L1", metric::kL1),
                         percent("L2", metric::kL2),
                         percent("DRAM", metric::kDram)});
  return all;
}

std::vector<table::entry> memory_entries(const launch& l) {
  std::vector<table::entry> all;
  const auto add = [&](const std::string& what, const char* request_metric,
                       const char* sector_metric, bool is_rare = false) {
    const auto requests = l.value(request_metric), sectors = l.value(sector_metric);
    const bool shown = !is_rare || requests != 0.0;
    all.push_back({what + "\nrequests", shown ? count_text(requests) : ""});
    all.push_back({what + "\nsectors", shown ? count_text(sectors) : ""});
    all.push_back({what + " sectors\nper request", shown ? ratio_text(sectors, requests) : ""});
  };
  add("load", metric::kLoadRequests, metric::kLoadSectors);
  add("store", metric::kStoreRequests, metric::kStoreSectors);
  add("cp.async", metric::kCopyRequests, metric::kCopySectors, true);
  all.push_back({"load wavefronts\nper request",
                 ratio_text(l.value(metric::kLoadWavefronts), l.value(metric::kLoadRequests))});
  all.push_back({"shared\nwavefronts", count_text(l.value(metric::kSharedWavefronts))});
  all.push_back({"conflicts\nof loads", count_text(l.value(metric::kLoadConflicts))});
  all.push_back({"conflicts\nof stores", count_text(l.value(metric::kStoreConflicts))});
  return all;
}

// The most frequent stall reasons, worst first.
std::vector<table::entry> stall_entries(const launch& l) {
  std::vector<std::pair<double, std::string>> stalls;
  for (const auto& [words, name] : metric::stalls())
    if (const auto warps = l.value(name); warps && *warps > 0) stalls.emplace_back(*warps, words);
  std::ranges::sort(stalls, std::ranges::greater{});
  std::vector<table::entry> all;
  for (const char* title : {"warps wait most on", "then on", "and on"}) {
    std::string text;
    if (all.size() < stalls.size()) {
      const auto& [warps, words] = stalls[all.size()];
      text = fmt::format("{} {:.2f}", words, warps);
    }
    all.push_back({title, text, table::align::left});
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

std::string kernel_text(const std::string& demangled) {
  constexpr std::size_t kLongest = 60;
  std::string text = short_kernel_name(demangled);
  if (text.size() > kLongest) text = text.substr(0, kLongest - 1) + "…";
  return text;
}

void add_profile(page& p, const profile::document& d) {
  p.line(std::filesystem::path(d.experiment).filename().string(), style::bold,
         " on {} ({}), kernel-zoo {}, ncu {}", d.device.id, d.device.name, kVersion, d.ncu_version);
  p.end_section();
  for_each_problem(p, d.cells, [&](const std::vector<const profiled*>& cells) {
    for (const auto entries_of : {launch_entries, memory_entries, stall_entries})
      add_launches(p, "kernel", cells, entries_of);
    for (const profiled* c : cells) add_remarks(p, *c);
    add_missing(p, cells);
  });
}

}  // namespace kzoo::report
