#include "report/problem_table.hpp"

#include "core/number_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace kzoo::report {
namespace {

using results::cell;
using results::document;

std::string accuracy_text(const document& d, const cell& c) {
  if (!c.accuracy) return "";
  if (is_integer(d.problem_of(c).dtype)) return c.accuracy->max_abs_error == 0 ? "exact" : "";
  return number_text(c.accuracy->rho_over_sqrt_k);
}

// Shared memory per block, static and dynamic together.
std::string shared_text(const results::launch& l) {
  const auto bytes = static_cast<double>(l.static_shared + l.dynamic_shared);
  return bytes == 0 ? "0" : number_text(bytes / 1024) + " KiB";
}

std::string occupancy_text(const results::launch& l) {
  return fmt::format("{:.0f}%{}", 100.0 * l.resident_warps / l.most_warps,
                     l.local_bytes > 0 ? " spills" : "");
}

// On a GPU its clock rate; otherwise whether the time is real CPU time or the simulator's.
std::string clock_text(const timing::summary& t) {
  if (t.clock != timing::clock::gpu) return std::string(timing::clock_name(t.clock));
  const double mhz = timing::median_mhz(t);
  return mhz > 0 ? fmt::format("{:.0f} MHz", mhz) : "";
}

std::vector<table::field> row(const document& d, const cell& c) {
  std::vector<table::field> fields{{c.kernel.name()},
                                   {std::string(verdict_name(c.verdict)), style_of(c.verdict)}};
  if (c.time) {
    fields.push_back({time_text(c.time->median_ms)});
    fields.push_back({fmt::format("±{:.1f}%", 50 * c.time->spread), style::dim});
    fields.push_back({clock_text(*c.time), style::dim});
    // GFLOP/s of the simulator would be meaningless.
    fields.push_back(
        {c.time->clock == timing::clock::simulator ? "" : number_text(d.gflops(c).value_or(0))});
    const auto share = d.share_of_peak(c);
    fields.push_back({share ? number_text(100 * *share) + "%" : "", style::dim});
    fields.push_back({speedup_text(d, c)});
    fields.push_back({c.hot_time ? time_text(c.hot_time->median_ms) : ""});
  } else {
    fields.resize(fields.size() + 7);
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

std::string throttling_text(const cell& c) {
  std::string text =
      fmt::format("{} sample{} discarded", c.time->throttled, c.time->throttled == 1 ? "" : "s");
  if (c.time->low_clock) text += ", the others kept although the clock did not recover";
  if (c.conditions.clock_reasons.empty()) return text;
  return text + fmt::format(" ({})", fmt::join(c.conditions.clock_reasons, ", "));
}

}  // namespace

style style_of(verdict v) {
  return v == verdict::pass ? style::good : is_declined(v) ? style::dim : style::bad;
}

std::string speedup_text(const document& d, const cell& c) {
  if (!c.speedup) return "";
  return number_text(c.speedup->value) + "x" +
         (c.speedup->tie() && d.baseline_of(c) != &c ? " tie" : "");
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
  t.add_column("hot");
  t.add_column("error/√K");
  t.add_column("regs");
  t.add_column("shared");
  t.add_column("occupancy");
  for (const auto& column : d.experiment.published.columns) t.add_column(column.label);
  for (const cell& c : d.cells_of(problem)) {
    if (!is_declined(c.verdict)) t.add_row(row(d, c));
  }
  return t;
}

std::vector<std::string> floors(const document& d, std::size_t problem) {
  std::vector<std::string> lines;
  for (const cell& c : d.cells_of(problem)) {
    const auto floor = d.floor_of(c);
    if (!floor) continue;
    std::string line = fmt::format("roofline floor of {}: {}, {}", precision_name(c.declared),
                                   time_text(floor->ms), text_of(*floor));
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<reason> reasons(const document& d, std::size_t problem) {
  std::vector<reason> found;
  for (const cell& c : d.cells_of(problem)) {
    // Without a variant the plugin could not be loaded, which the report's head says once.
    const bool in_head = c.verdict == verdict::unavailable && c.kernel.variant.empty();
    if (c.verdict == verdict::pass || in_head) continue;
    const auto same = std::ranges::find_if(
        found, [&](const reason& r) { return r.verdict == c.verdict && r.text == c.reason; });
    reason& r =
        same == found.end() ? found.emplace_back(reason{c.verdict, {}, c.reason, c.errors}) : *same;
    r.kernels.push_back(c.kernel.name());
  }
  return found;
}

std::vector<throttling> throttled(const document& d, std::size_t problem) {
  std::vector<throttling> found;
  for (const cell& c : d.cells_of(problem)) {
    if (!c.time || (c.time->throttled == 0 && !c.time->low_clock)) continue;
    found.push_back({c.kernel.name(), throttling_text(c)});
  }
  return found;
}

}  // namespace kzoo::report
