#include "report/problem_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace kzoo::report {
namespace {

using results::cell;
using results::document;

bool declined(const cell& c) {
  return c.verdict == verdict::unsupported || c.verdict == verdict::unavailable;
}

std::string accuracy_text(const document& d, const cell& c) {
  if (!c.accuracy) return "";
  if (is_integer(d.problem_of(c).dtype)) return c.accuracy->max_abs_error == 0 ? "exact" : "";
  return number_text(c.accuracy->rho_over_sqrt_k);
}

// Of a block, static and dynamic together.
std::string shared_text(const workers::launch& l) {
  const auto bytes = static_cast<double>(l.static_shared + l.dynamic_shared);
  return bytes == 0 ? "0" : number_text(bytes / 1024) + " KiB";
}

std::string occupancy_text(const workers::launch& l) {
  return fmt::format("{:.0f}%{}", 100.0 * l.resident_warps / l.most_warps,
                     l.local_bytes > 0 ? " spills" : "");
}

std::vector<table::field> row(const document& d, const cell& c) {
  std::vector<table::field> fields{{c.kernel()},
                                   {std::string(verdict_name(c.verdict)), style_of(c.verdict)}};
  if (c.time) {
    const cell* baseline = d.baseline_of(c);
    fields.push_back({time_text(c.time->median_ms)});
    fields.push_back({fmt::format("±{:.1f}%", 50 * c.time->spread), style::dim});
    fields.push_back(
        {c.time->clock == timing::clock::gpu ? "" : std::string(timing::clock_name(c.time->clock)),
         style::dim});
    // A simulator has no speed worth a figure.
    fields.push_back(
        {c.time->clock == timing::clock::simulator ? "" : number_text(d.gflops(c).value_or(0))});
    const auto share = d.share_of_peak(c);
    fields.push_back({share ? number_text(100 * *share) + "%" : "", style::dim});
    fields.push_back({baseline == nullptr
                          ? ""
                          : number_text(baseline->time->median_ms / c.time->median_ms) + "x"});
  } else {
    fields.resize(fields.size() + 6);
  }
  fields.push_back({accuracy_text(d, c)});
  const bool compiled = !c.launches.empty() && c.launches[0].most_warps > 0;
  fields.push_back({compiled ? std::to_string(c.launches[0].registers) : "", style::dim});
  fields.push_back({compiled ? shared_text(c.launches[0]) : "", style::dim});
  fields.push_back({compiled ? occupancy_text(c.launches[0]) : "", style::dim});
  for (std::size_t i = 0; i < d.experiment.published.columns.size(); ++i) {
    const auto ms = d.published_ms(c, i);
    fields.push_back({ms ? time_text(*ms) : "", style::dim});
  }
  return fields;
}

}  // namespace

style style_of(verdict v) {
  return v == verdict::pass                                       ? style::good
         : v == verdict::unsupported || v == verdict::unavailable ? style::dim
                                                                  : style::bad;
}

table problem_table(const document& d, std::size_t problem) {
  table t;
  t.add_column("kernel", table::align::left);
  t.add_column("verdict", table::align::left);
  t.add_column("time");
  t.add_column("spread");
  t.add_column("clock", table::align::left);
  t.add_column("GFLOP/s");
  t.add_column("% of\npeak");
  t.add_column(d.experiment.baseline ? "vs " + d.experiment.baseline->text : "");
  t.add_column("error/√K");
  t.add_column("regs");
  t.add_column("shared");
  t.add_column("occupancy");
  for (const auto& column : d.experiment.published.columns) t.add_column(column.label);
  for (const cell& c : d.cells) {
    if (c.problem == problem && !declined(c)) t.add_row(row(d, c));
  }
  return t;
}

std::vector<std::string> floors(const document& d, std::size_t problem) {
  std::vector<std::string> lines;
  for (const cell& c : d.cells) {
    const auto floor = c.problem == problem ? d.floor_of(c) : std::nullopt;
    if (!floor) continue;
    std::string line = fmt::format("roofline floor of {}: {}, {}", precision_name(c.declared),
                                   time_text(floor->ms), text_of(*floor));
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<reason> reasons(const document& d, std::size_t problem) {
  std::vector<reason> found;
  for (const cell& c : d.cells) {
    // Without a variant it is the plugin that could not be used: the head says so once.
    const bool said_already = c.verdict == verdict::unavailable && c.variant.empty();
    if (c.problem != problem || c.verdict == verdict::pass || said_already) continue;
    const auto same = std::ranges::find_if(
        found, [&](const reason& r) { return r.verdict == c.verdict && r.text == c.reason; });
    reason& r =
        same == found.end() ? found.emplace_back(reason{c.verdict, {}, c.reason, c.errors}) : *same;
    r.kernels.push_back(c.kernel());
  }
  return found;
}

}  // namespace kzoo::report
