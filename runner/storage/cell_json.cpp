
#include "storage/cell_json.hpp"

#include "storage/parts_json.hpp"
#include "storage/results_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <span>

namespace kzoo::storage {

using json = nlohmann::ordered_json;

// A resumed run counts on from the last round, which must not overflow.
constexpr int kLastRound = 1'000'000'000;

void map(auto& io, is<reference::accuracy> auto& a) {
  io("max_abs_error", a.max_abs_error);
  io("max_rho", a.max_rho);
  io("rho_over_sqrt_k", a.rho_over_sqrt_k);
  io("worst_of_allowed", a.worst_of_allowed);
  io.numbers("worst_at", "two numbers, row and column", a.worst_row, a.worst_col);
  io("relative_frobenius", a.relative_frobenius);
  io("digits", a.digits);
  io("rows_checked", a.rows_checked);
}

void map(auto& io, is<reference::differing> auto& d) {
  io("row", d.row);
  io("column", d.col);
  io("expected", d.expected);
  io("got", d.got);
  io("unwritten", d.unwritten);
}

void map(auto& io, is<reference::error_map> auto& e) {
  io("rows_per_line", e.rows_per_line);
  io("columns_per_character", e.columns_per_character);
  io("rows_per_product", e.rows_per_product);
  io("map", e.picture);
  io("first", e.first);
}

void map(auto& io, is<results::finding> auto& f) {
  io("check", f.check);
  io("outcome", f.outcome);
  io("detail", f.detail);
  if (io.has("errors", f.errors.has_value())) io("errors", f.errors);
  if (io.has("not_checked", !f.not_checked.empty())) io("not_checked", f.not_checked);
}

void map(auto& io, is<results::sustained> auto& s) {
  io("time", s.time);
  io("settle_seconds", s.settle_seconds);
  io("settled", s.settled);
  io("watts", s.watts);
  io("reported_watts", s.reported_watts);
  io("counter_seconds", s.counter_seconds);
  io("no_energy", s.no_energy);
  io.derived("joules", s.joules());
}

void map(auto& io, is<results::launch> auto& l) {
  const char* extent = "three numbers, x, y and z";
  io.numbers("grid", extent, l.grid[0], l.grid[1], l.grid[2]);
  io.numbers("block", extent, l.block[0], l.block[1], l.block[2]);
  io("dynamic_shared", l.dynamic_shared);
  io("static_shared", l.static_shared);
  io("local_bytes", l.local_bytes);
  io("registers", l.registers);
  io("resident_warps", l.resident_warps);
  io("most_warps", l.most_warps);
}

void map(auto& io, is<results::conditions> auto& c) {
  io("sm_mhz", c.sm_mhz);
  io("memory_mhz", c.memory_mhz);
  io("celsius", c.celsius);
  io("watts", c.watts);
  io("power_limit_watts", c.power_limit_watts);
  io("clock_reasons", c.clock_reasons);
}

void map(auto& io, is<timing::end_to_end> auto& e) {
  io("allocate_ms", e.allocate_ms);
  io("to_device_ms", e.to_device_ms);
  io("kernel_ms", e.kernel_ms);
  io("to_host_ms", e.to_host_ms);
  io.derived("total_ms", e.total_ms());
}

constexpr as kNumbers{[](const timing::packed_numbers& list) { return json(list.unpacked()); },
                      [](const field& f, timing::packed_numbers& list) { list = f.numbers(); }};
constexpr as kIntegers{[](const timing::packed_integers& list) { return json(list.unpacked()); },
                       [](const field& f, timing::packed_integers& list) { list = f.integers(); }};

// Recomputes the statistics, except for the interval.
void recompute(timing::summary& t) {
  const timing::summary figures =
      timing::summarise_without_interval(t.samples_ms.unpacked(), t.rounds.unpacked());
  t.median_ms = figures.median_ms;
  t.min_ms = figures.min_ms;
  t.spread = figures.spread;
}

void map(auto& io, is<timing::summary> auto& t) {
  const auto& ms = t.samples_ms;
  const auto& mhz = t.sm_mhz;
  io.derived("median_ms", t.median_ms);
  io.derived("min_ms", t.min_ms);
  io.derived("spread", t.spread);
  io("clock", t.clock);
  io("cache", t.caches);
  io.later("noise", t.relative_half_width);
  io.require("noise", !(t.relative_half_width < 0), "expected a number from 0 on");
  io("stopped_by", t.stopped);
  io("samples_ms", t.samples_ms, kNumbers);
  io.require_each(
      "samples_ms", [&](auto i) { return ms[i] >= 0; }, "expected a time, from 0 on");
  io.require("samples_ms", !ms.empty(), "expected at least one sample");
  io("rounds", t.rounds, kIntegers);
  io.require_each(
      "rounds", [&](auto i) { return t.rounds[i] >= 0 && t.rounds[i] <= kLastRound; },
      "expected a number from 0 to 1000000000");
  io.require_each(
      "rounds", [&](auto i) { return i == 0 || t.rounds[i] >= t.rounds[i - 1]; },
      "the rounds are not in order");
  io.require("rounds", t.rounds.size() == ms.size(), "expected one for each sample");
  io.restore(recompute, t);
  if (!io.has("sm_mhz", t.clock == timing::clock::gpu)) return;
  io("sm_mhz", t.sm_mhz, kNumbers);
  io.require_each(
      "sm_mhz", [&](auto i) { return mhz[i] >= 0; }, "expected a clock in MHz, from 0 on");
  io.require("sm_mhz", mhz.empty() || mhz.size() == ms.size(), "expected a clock for each sample");
  io("throttled", t.throttled);
  io("low_clock", t.low_clock);
}

void map(auto& io, is<roofline::floor> auto& f) {
  io.derived("ms", f.ms);
  io.derived("resource", name_of(f.resource));
}

constexpr as kFigures{[](const published_figures& all) {
                        json j = json::object();
                        for (const auto& [label, ms] : all) j[label] = ms;
                        return j;
                      },
                      [](const field& f, published_figures& all) {
                        for (const auto& [label, ms] : f.entries())
                          all.emplace_back(label, ms.number());
                      }};

void map(auto& io, is<reference::comparison> auto& c) {
  io("max_abs_diff", c.max_abs_diff);
  io("worst_of_allowed", c.worst_of_allowed);
  io.numbers("worst_at", "two numbers, row and column", c.worst_row, c.worst_col);
  io("agree", c.agree);
}

void map(auto& io, is<named_difference> auto& d) {
  io("kernel", d.kernel);
  map(io, d.by);
}

void map(auto& io, is<results::cell> auto& c, auto& context) {
  io("plugin", c.kernel.plugin);
  io("variant", c.kernel.variant);
  io("device", c.device);
  io("problem", context.problem);
  io.later("precision", c.declared, kPrecision);
  io("verdict", c.verdict);
  io("reason", c.reason);
  if (io.has("check", !c.check.empty())) io("check", c.check);
  io("accuracy", c.accuracy);
  const auto time = [&](const char* key, auto& t) {
    if (io.has(key, t.has_value())) {
      io.require(key, c.verdict == verdict::pass, "only what has passed has a time");
    }
    io(key, t);
  };
  time("time", c.time);
  time("hot_time", c.hot_time);
  if (io.has("sustained", c.sustained.has_value())) {
    io.require("sustained", c.verdict == verdict::pass, "only what has passed has a time");
    io("sustained", c.sustained);
  }
  io("checks", c.findings);
  const std::string invariant = results::batch_invariance(c.findings);
  if (io.has("batch_invariant", !invariant.empty())) io.derived("batch_invariant", invariant);
  io("errors", c.errors);
  io("launches", c.launches);
  if (io.has("libraries", !c.libraries.empty())) io("libraries", c.libraries);
  if (io.has("judge_seconds", c.judge_seconds > 0)) io("judge_seconds", c.judge_seconds);
  if (io.has("time_seconds", c.time_seconds > 0)) io("time_seconds", c.time_seconds);
  io.derived("gflops", context.gflops);
  io.derived("share_of_peak", context.share_of_peak);
  io.derived("floor", context.floor);
  map_speedup(io, c.speedup);
  if (io.has("same_as", context.same_as.has_value())) io("same_as", context.same_as);
  if (io.has("differs_from", !context.differs_from.empty()))
    io("differs_from", context.differs_from);
  if (io.has("conditions", c.conditions.any())) io("conditions", c.conditions);
  if (io.has("end_to_end", c.end_to_end.has_value())) io("end_to_end", c.end_to_end);
  if (io.has("published_ms", !context.published_ms.empty()))
    io("published_ms", context.published_ms, kFigures);
}

json to_json(const results::document& d, std::span<const results::cell> so_far) {
  const results::cell& c = so_far.back();
  cell_context context{d.problem_of(c), {}, {}, {}, d.gflops(c), d.share_of_peak(c), d.floor_of(c)};
  for (std::size_t i = 0; i < d.experiment.published.columns.size(); ++i) {
    if (const auto ms = d.published_ms(c, i))
      context.published_ms.emplace_back(d.experiment.published.columns[i].label, *ms);
  }
  if (c.same_as) context.same_as = so_far[*c.same_as].kernel.name();
  for (const results::difference& one : c.differences)
    context.differs_from.push_back({so_far[one.from].kernel.name(), one.by});
  writer io;
  map(io, c, std::as_const(context));
  return io.take();
}

stored_cell read_cell(const field& f) {
  stored_cell read;
  reader io(f);
  map(io, read.cell, read.context);
  return read;
}

void place_among(stored_cell& c, const std::vector<const kernel_id*>& earlier, const field& f) {
  const auto position_of = [&](const std::string& name, const char* key) {
    const auto found =
        std::ranges::find(earlier, name, [](const kernel_id* k) { return k->name(); });
    if (found == earlier.end())
      f.at(key).refuse(fmt::format("no earlier cell of its problem is of {}", name));
    return static_cast<std::size_t>(found - earlier.begin());
  };
  if (c.context.same_as) c.cell.same_as = position_of(*c.context.same_as, "same_as");
  for (const named_difference& one : c.context.differs_from)
    c.cell.differences.push_back({position_of(one.kernel, "differs_from"), one.by});
}

json to_json(const std::vector<results::finding>& findings) { return to_value(findings); }
json to_json(const problem& p) { return to_value(p); }

}  // namespace kzoo::storage
