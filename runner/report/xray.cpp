#include "report/launches.hpp"

#include "core/version.hpp"
#include "os/files.hpp"
#include "os/text.hpp"
#include "xray/advice.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <vector>

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

// Loads that pass through registers, and those of asynchronous copies: Nsight Compute counts both.
request_counts loads_of(const xray::launch& l) {
  request_counts sum = l.total(access::global_load);
  sum += l.total(access::async_copy);
  return sum;
}

using row_of_launch = named_launch<xray::launch>;
using launch_column = column<row_of_launch>;

std::vector<launch_column> launch_columns(const problem& p) {
  constexpr auto kRight = table::align::right;
  return {
      {"launched", [](const auto& r) { return kernel_text(r.launch->kernel); }, table::align::left,
       0, style::dim},
      {"grid", [](const auto& r) { return extent_text(r.launch->grid); }, kRight, 0, style::dim},
      {"block", [](const auto& r) { return extent_text(r.launch->block); }, kRight, 0, style::dim},
      {"barriers", [](const auto& r) { return count(r.launch->barriers); }},
      {"FMA per byte\nof global loads",
       [&p](const auto& r) {
         const double fma = double(p.m) * double(p.n) * double(p.k);
         const double bytes = double(kSectorBytes * loads_of(*r.launch).passes);
         return bytes > 0 ? fmt::format("{:.3g}", fma / bytes) : "";
       }},
      {"active lanes\nper request", [](const auto& r) {
         request_counts all;
         for (const access a : xray::kAccesses) all += r.launch->total(a);
         return ratio(all.lanes, all.requests);
       }}};
}

request_counts counts_of(const xray::launch& l, access a) {
  return a == access::global_load ? loads_of(l) : l.total(a);
}

std::vector<launch_column> access_columns(access a) {
  const auto counted = [a](auto text) {
    return [=](const row_of_launch& r) { return text(counts_of(*r.launch, a)); };
  };
  const std::string passes = passes_name(a);
  return {{"requests", counted([](const request_counts& c) { return count(c.requests); })},
          {passes, counted([](const request_counts& c) { return count(c.passes); })},
          {passes + "\nper request",
           counted([](const request_counts& c) { return ratio(c.passes, c.requests); })},
          {"ideal", counted([](const request_counts& c) { return count(c.ideal); })},
          is_shared(a)
              ? launch_column{"conflicts", counted([](const request_counts& c) {
                                return std::to_string(c.excess());
                              })}
              : launch_column{"bytes used\nof fetched", counted([](const request_counts& c) {
                                return fmt::format("{:.0f}%", 100 * double(c.bytes) /
                                                                  double(c.passes * kSectorBytes));
                              })}};
}

// What is wrong, then what is slow.
void add_findings(page& p, const std::string& name, const xray::launch& l) {
  for (const xray::finding& f : l.findings) {
    p.item(f.what, style::bad,
           fmt::format(" in {}, {}: {} ({} times); {}", name, f.places(), f.detail, f.count,
                       f.advice));
  }
  for (const xray::line_counts& line : l.lines) {
    if (const std::string advice = advice_on(line); !advice.empty())
      p.item(fmt::format("{}, {}, {}: {}", name, place_text(line.where), access_name(line.kind),
                         advice));
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
          fmt::format("{}: {} accesses by operations of whole warps (wmma, mma, ldmatrix) are not "
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

std::string counts_text(const xray::line_counts& l) {
  return fmt::format("{} {} B: {} requests, {:.2f} {} each (ideal {:.2f})", access_name(l.kind),
                     l.width, l.counts.requests, l.counts.passes_each(), passes_name(l.kind),
                     l.counts.ideal_each());
}

void add_xray(page& p, const xray::document& d) {
  p.line(std::filesystem::path(d.experiment).filename().string(), style::bold,
         fmt::format(" in the simulator, access by access, kernel-zoo {}", kVersion));
  p.end_section();
  for_each_problem(d.cells, [&](const problem& at, const std::vector<const analysed*>& cells) {
    p.line(problem_name(at), style::bold);
    add_launches(p, "kernel", launch_columns(at), cells, [](const xray::launch&) { return true; });
    for (const auto& [title, a] : {std::pair{"global loads", access::global_load},
                                   {"global stores", access::global_store},
                                   {"shared loads", access::shared_load},
                                   {"shared stores", access::shared_store}}) {
      add_launches(p, title, access_columns(a), cells,
                   [a](const xray::launch& l) { return counts_of(l, a).requests > 0; });
    }
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
