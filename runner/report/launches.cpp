#include "report/launches.hpp"

#include "core/kernel_name.hpp"
#include "core/version.hpp"
#include "os/files.hpp"
#include "os/text.hpp"
#include "report/problem_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace kzoo::report {
namespace {

// The extent of a grid or a block, "32x16": without trailing ones.
std::string extent_text(std::span<const std::uint32_t> extent) {
  while (extent.size() > 1 && extent.back() == 1) extent = extent.first(extent.size() - 1);
  return fmt::format("{}", fmt::join(extent, "x"));
}

// Calls f(problem, its cells) for each problem, in the order in which they first come.
template <class Cell, class F>
void for_each_problem(const std::vector<Cell>& all, const F& f) {
  std::vector<problem> done;
  for (const Cell& first : all) {
    if (std::ranges::find(done, first.problem) != done.end()) continue;
    done.push_back(first.problem);
    std::vector<const Cell*> cells;
    for (const Cell& c : all)
      if (c.problem == first.problem) cells.push_back(&c);
    f(first.problem, cells);
  }
}

const auto& launches_of(const profile::profiled& c) { return c.found->launches; }
const auto& launches_of(const xray::analysed& c) { return *c.found; }

// Tells the launches of one cell apart.
template <class Cell>
std::string launch_name(const Cell& c, std::size_t index) {
  return launches_of(c).size() == 1 ? c.kernel.name()
                                    : fmt::format("{} #{}", c.kernel.name(), index + 1);
}

// A row for each launch, which begins with its name below `title`. A launch of which nothing else
// is to be told is left out.
template <class Cell, class EntriesOf>
void add_launches(page& p, const char* title, const std::vector<const Cell*>& cells,
                  const EntriesOf& entries_of) {
  table t;
  for (const Cell* c : cells) {
    for (std::size_t i = 0; c->found && i < launches_of(*c).size(); ++i) {
      std::vector<table::entry> row = entries_of(launches_of(*c)[i]);
      if (row.empty()) continue;
      row.insert(row.begin(), {title, launch_name(*c, i), table::align::left});
      t.add_entries(row);
    }
  }
  p.add(t);
  p.end_section();
}

// A cell whose run failed.
template <class Cell>
void add_failed(page& p, const Cell& c) {
  p.item(name_of(c.verdict), style_of(c.verdict),
         fmt::format(" {}: {}", c.kernel.name(), c.reason));
}

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
  return {{"launched", {kernel_text(l.kernel), style::dim}, table::align::left},
          {"grid", {extent_text(l.grid), style::dim}},
          {"block", {extent_text(l.block), style::dim}},
          {"time", duration_text(l.value(metric::kTime))},
          percent("occupancy", metric::kOccupancy),
          percent("FMA\npipe", metric::kFma),
          percent("tensor\npipe", metric::kTensor),
          {"FFMA", count_text(l.value(metric::kFfma))},
          percent("L1", metric::kL1),
          percent("L2", metric::kL2),
          percent("DRAM", metric::kDram)};
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
  std::vector<std::pair<double, std::string>> found;
  for (const auto& [words, name] : metric::stalls())
    if (const auto warps = l.value(name); warps && *warps > 0) found.emplace_back(*warps, words);
  std::ranges::sort(found, std::ranges::greater{});
  std::vector<table::entry> all;
  for (const char* title : {"warps wait most on", "then on", "and on"}) {
    std::string text;
    if (all.size() < found.size()) {
      const auto& [warps, words] = found[all.size()];
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

using process::place_text;
using xray::access;
using xray::analysed;
using xray::request_counts;

constexpr std::uint64_t kSectorBytes = 32;

std::string ratio(std::uint64_t over, std::uint64_t under) {
  return under == 0 ? "" : fmt::format("{:.2f}", double(over) / double(under));
}

std::string count(std::uint64_t n) { return n == 0 ? "" : fmt::format("{}", n); }

// Loads that pass through registers, and those of asynchronous copies: Nsight Compute counts both.
request_counts loads_of(const xray::launch& l) {
  request_counts sum = l.total(access::global_load);
  sum += l.total(access::async_copy);
  return sum;
}

std::vector<table::entry> launch_entries(const xray::launch& l, const problem& p) {
  const double fma = double(p.m) * double(p.n) * double(p.k);
  const double bytes =
      double(kSectorBytes * (loads_of(l).passes + l.total(access::tma_load).passes));
  request_counts all;
  for (const access a : kAllOf<xray::access>) all += l.total(a);
  return {{"launched", {kernel_text(l.kernel), style::dim}, table::align::left},
          {"grid", {extent_text(l.grid), style::dim}},
          {"block", {extent_text(l.block), style::dim}},
          {"barriers", count(l.barriers)},
          {"FMA per byte\nof global loads", bytes > 0 ? fmt::format("{:.3g}", fma / bytes) : ""},
          {"active lanes\nper request", ratio(all.lanes, all.requests)}};
}

// Empty for a launch without such accesses.
std::vector<table::entry> access_entries(const xray::launch& l, access a) {
  const request_counts c = a == access::global_load ? loads_of(l) : l.total(a);
  if (c.requests == 0) return {};
  const std::string passes = passes_name(a);
  const double used = 100 * double(c.bytes) / double(c.passes * kSectorBytes);
  return {{"requests", count(c.requests)},
          {passes, count(c.passes)},
          {passes + "\nper request", ratio(c.passes, c.requests)},
          {"ideal", count(c.ideal)},
          is_shared(a) ? table::entry{"conflicts", std::to_string(c.excess())}
                       : table::entry{"bytes used\nof fetched", fmt::format("{:.0f}%", used)}};
}

// Adds what is wrong, then what is slow.
void add_findings(page& p, const std::string& name, const xray::launch& l) {
  for (const xray::finding& f : l.findings) {
    p.item(f.what, style::bad,
           fmt::format(" in {}, {}: {} ({} times); {}", name, f.places(), f.detail, f.count,
                       f.advice));
  }
  for (const xray::line_counts& line : l.lines) {
    if (const std::string advice = advice_on(line); !advice.empty())
      p.item(
          fmt::format("{}, {}, {}: {}", name, place_text(line.where), name_of(line.kind), advice));
  }
}

void add_notes(page& p, const analysed& c) {
  if (!c.found) return add_failed(p, c);
  for (std::size_t i = 0; i < c.found->size(); ++i) {
    const xray::launch& l = (*c.found)[i];
    const std::string name = launch_name(c, i);
    if (!p.is_html()) add_findings(p, name, l);  // a page has them before the tables
    if (!l.error.empty())
      p.item("failed", style::bad, fmt::format(" {}, and counts only in part: {}", name, l.error));
    if (l.blocks_run < l.blocks)
      p.item(fmt::format("{}: {} of {} blocks were run, and counts scaled to all", name,
                         l.blocks_run, l.blocks));
    if (l.uncounted != 0)
      p.item(
          fmt::format("{}: {} accesses by operations of whole warps (wmma) are not "
                      "counted",
                      name, l.uncounted));
  }
}

void add_lines(page& p, const std::string& name, const xray::launch& l) {
  std::map<std::string, std::map<unsigned, std::vector<const xray::line_counts*>>> by_place;
  for (const xray::line_counts& line : l.lines)
    by_place[line.where.file][line.where.line].push_back(&line);
  for (const auto& [file, by_line] : by_place) {
    p.line(name, style::bold, fmt::format(" {}", file));
    const std::vector<std::string> source = lines_of(content_of(file));
    std::vector<std::string> shown;
    for (const auto& [number, counts] : by_line) {
      const bool known = number >= 1 && number <= source.size();
      shown.push_back(fmt::format("{:5} | {}", number, known ? source[number - 1] : ""));
      for (const xray::line_counts* c : counts) {
        std::string from;
        for (const xray::source_frame& f : c->called)
          from += (from.empty() ? ", from " : ", ") + place_text(f);
        shown.push_back(fmt::format("      |   ^ {}{}", counts_text(*c), from));
        if (advice_on(*c).empty()) continue;
        shown.push_back(
            fmt::format("      |     {} of its lanes: {}", picture_unit(c->kind), picture_of(*c)));
      }
    }
    p.verbatim(shown);
    p.end_section();
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
         fmt::format(" on {} ({}), kernel-zoo {}, ncu {}", d.device.id, d.device.name, kVersion,
                     d.ncu_version));
  p.end_section();
  for_each_problem(d.cells, [&](const problem& at, const std::vector<const profiled*>& cells) {
    p.line(problem_name(at), style::bold);
    for (const auto entries_of : {launch_entries, memory_entries, stall_entries})
      add_launches(p, "kernel", cells, entries_of);
    for (const profiled* c : cells) add_remarks(p, *c);
    add_missing(p, cells);
    p.end_section();
  });
}

std::string counts_text(const xray::line_counts& l) {
  return fmt::format("{} {} B: {} requests, {:.2f} {} each (ideal {:.2f})", name_of(l.kind),
                     l.width, l.counts.requests, l.counts.passes_each(), passes_name(l.kind),
                     l.counts.ideal_each());
}

void add_xray(page& p, const xray::document& d) {
  p.line(std::filesystem::path(d.experiment).filename().string(), style::bold,
         fmt::format(" in the simulator, access by access, kernel-zoo {}", kVersion));
  p.end_section();
  for_each_problem(d.cells, [&](const problem& at, const std::vector<const analysed*>& cells) {
    p.line(problem_name(at), style::bold);
    add_launches(p, "kernel", cells, [&](const xray::launch& l) { return launch_entries(l, at); });
    for (const auto& [title, a] : {std::pair{"global loads", access::global_load},
                                   {"global stores", access::global_store},
                                   {"TMA loads", access::tma_load},
                                   {"TMA stores", access::tma_store},
                                   {"shared loads", access::shared_load},
                                   {"shared stores", access::shared_store},
                                   {"wgmma's operands", access::wgmma}})
      add_launches(p, title, cells, [&](const xray::launch& l) { return access_entries(l, a); });
    for (const analysed* c : cells) add_notes(p, *c);
    p.end_section();
  });
}

void add_xray_lines(page& p, const xray::document& d) {
  for (const xray::analysed& c : d.cells) {
    for (std::size_t i = 0; c.found && i < c.found->size(); ++i)
      add_lines(p, c.kernel.name(), (*c.found)[i]);
  }
}

}  // namespace kzoo::report
