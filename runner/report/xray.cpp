#include "core/version.hpp"
#include "os/files.hpp"
#include "os/text.hpp"
#include "report/launches.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <utility>

namespace kzoo::report {
namespace {

using process::place_text;
using xray::access;
using xray::analysed;
using xray::request_counts;

constexpr std::uint64_t kSectorBytes = 32;

std::string ratio(std::uint64_t over, std::uint64_t under) {
  return under == 0 ? "" : fmt::format("{:.2f}", double(over) / double(under));
}

std::string count(std::uint64_t n) { return n == 0 ? "" : fmt::format("{}", n); }

// Loads through registers and by asynchronous copies, as Nsight Compute counts them.
request_counts loads_of(const xray::launch& l) {
  request_counts sum = l.total(access::global_load);
  sum += l.total(access::async_copy);
  return sum;
}

std::vector<table::entry> launch_entries(const xray::launch& l, const problem& p) {
  const double fma = double(p.m) * double(p.n) * double(p.k);
  const double bytes =
      double(kSectorBytes * (loads_of(l).passes + l.total(access::tma_load).passes));
  request_counts sum;
  for (const access a : kAllOf<xray::access>) sum += l.total(a);
  std::vector<table::entry> all = launched(l);
  all.insert(all.end(), {{"barriers", count(l.barriers)},
                         {"FMA per byte\nof global loads",
                          bytes > 0 ? fmt::format("{:.3g}", fma / bytes) : ""},
                         {"active lanes\nper request", ratio(sum.lanes, sum.requests)}});
  return all;
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
    p.item(f.what, style::bad, " in {}, {}: {} ({} times); {}", name, f.places(), f.detail, f.count,
           f.advice);
  }
  for (const xray::line_counts& line : l.lines) {
    if (const auto advice = advice_on(line))
      p.item(
          fmt::format("{}, {}, {}: {}", name, place_text(line.where), name_of(line.kind), *advice));
  }
}

void add_notes(page& p, const analysed& c) {
  if (!c.found) return add_failed(p, c);
  for (std::size_t i = 0; i < c.found->size(); ++i) {
    const xray::launch& l = (*c.found)[i];
    const std::string name = launch_name(c, i);
    if (!p.is_html()) add_findings(p, name, l);  // a page has them before the tables
    if (!l.error.empty())
      p.item("failed", style::bad, " {}, and counts only in part: {}", name, l.error);
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
    p.line(name, style::bold, " {}", file);
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
        if (!advice_on(*c)) continue;
        shown.push_back(
            fmt::format("      |     {} of its lanes: {}", picture_unit(c->kind), picture_of(*c)));
      }
    }
    p.verbatim(shown);
    p.end_section();
  }
}

}  // namespace

std::string counts_text(const xray::line_counts& l) {
  return fmt::format("{} {} B: {} requests, {:.2f} {} each (ideal {:.2f})", name_of(l.kind),
                     l.width, l.counts.requests, l.counts.passes_each(), passes_name(l.kind),
                     l.counts.ideal_each());
}

void add_xray(page& p, const xray::document& d) {
  p.line(std::filesystem::path(d.experiment).filename().string(), style::bold,
         " in the simulator, access by access, kernel-zoo {}", kVersion);
  p.end_section();
  for_each_problem(p, d.cells, [&](const std::vector<const analysed*>& cells) {
    const problem& at = cells.front()->problem;
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
  });
}

void add_xray_lines(page& p, const xray::document& d) {
  for (const xray::analysed& c : d.cells) {
    for (std::size_t i = 0; c.found && i < c.found->size(); ++i)
      add_lines(p, c.kernel.name(), (*c.found)[i]);
  }
}

}  // namespace kzoo::report
