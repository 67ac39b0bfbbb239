// Cells and agreements as JSON, in both directions.

#include "storage/cell_json.hpp"

#include "storage/archive.hpp"
#include "storage/results_json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace kzoo::storage {

using json = nlohmann::ordered_json;

void map(auto& io, is<problem> auto& p) {
  io.derived("name", problem_name(p));
  io("m", p.m);
  io("n", p.n);
  io("k", p.k);
  io("dtype", p.dtype, word(kElementTypes, type_name));
  io("alpha", p.alpha);
  io("beta", p.beta);
  io.derived("lda", p.lda());
  io.derived("ldb", p.ldb());
  io.derived("ldc", p.ldc());
  io("fill", p.data, word(kFills, fill_name));
  io("padding", p.padding);
  io("seed", p.seed);
  io.require(p.m >= 1 && p.n >= 1 && p.k >= 1 && p.padding >= 0, "expected sizes from 1 on");
  io.require(std::isfinite(p.alpha) && std::isfinite(p.beta), "alpha and beta must be numbers");
}

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
  io("map", e.picture);
  io("first", e.first);
}

void map(auto& io, is<results::finding> auto& f) {
  io("check", f.check);
  io("outcome", f.outcome, word(results::kOutcomes, results::outcome_name));
  io("detail", f.detail);
  if (io.has("errors", f.errors.has_value())) io("errors", f.errors);
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

// Recomputes the statistics from the samples.
void recompute(timing::summary& t) {
  const timing::summary figures = timing::summarise(t.samples_ms, t.rounds);
  t.median_ms = figures.median_ms;
  t.min_ms = figures.min_ms;
  t.spread = figures.spread;
  t.relative_half_width = figures.relative_half_width;
}

void map(auto& io, is<timing::summary> auto& t) {
  const auto& ms = t.samples_ms;
  const auto& mhz = t.sm_mhz;
  io.derived("median_ms", t.median_ms);
  io.derived("min_ms", t.min_ms);
  io.derived("spread", t.spread);
  io("clock", t.clock, word(timing::kClocks, timing::clock_name));
  io("cache", t.caches, word(timing::kCaches, timing::caches_name));
  io.derived("noise", t.relative_half_width);
  io("stopped_by", t.out_of_time,
     as{[](bool out_of_time) { return out_of_time ? "time" : "noise"; },
        [](const field& f, bool& out_of_time) { out_of_time = f.text() == "time"; }});
  io("samples_ms", t.samples_ms);
  io.require_each(
      "samples_ms", [&](auto i) { return ms[i] >= 0; }, "expected a time, from 0 on");
  io.require("samples_ms", !ms.empty(), "expected at least one sample");
  io("rounds", t.rounds);
  io.require_each(
      "rounds", [&](auto i) { return i == 0 || t.rounds[i] >= t.rounds[i - 1]; },
      "the rounds are not in order");
  io.require("rounds", t.rounds.size() == ms.size(), "expected one for each sample");
  io.restore(recompute, t);
  if (!io.has("sm_mhz", t.clock == timing::clock::gpu)) return;
  io("sm_mhz", t.sm_mhz);
  io.require_each(
      "sm_mhz", [&](auto i) { return mhz[i] >= 0; }, "expected a clock in MHz, from 0 on");
  io.require("sm_mhz", mhz.empty() || mhz.size() == ms.size(), "expected a clock for each sample");
  io("throttled", t.throttled);
  io("low_clock", t.low_clock);
}

void map(auto& io, is<roofline::floor> auto& f) {
  io.derived("ms", f.ms);
  io.derived("resource", roofline::resource_name(f.resource));
}

// Null if it is none of the ABI's: a plugin may declare any number.
constexpr as kPrecision{
    [](kzoo_precision p) {
      const bool known = std::ranges::find(kPrecisions, p) != kPrecisions.end();
      return known ? json(precision_name(p)) : json();
    },
    [](const field& f, kzoo_precision& p) { p = f.one_of(kPrecisions, precision_name); }};

constexpr as kFigures{[](const published_figures& all) {
                        json j = json::object();
                        for (const auto& [label, ms] : all) j[label] = ms;
                        return j;
                      },
                      [](const field& f, published_figures& all) {
                        for (const auto& [label, ms] : f.entries())
                          all.emplace_back(label, ms.number());
                      }};

void map(auto& io, is<results::cell> auto& c, auto& context) {
  io("plugin", c.kernel.plugin);
  io("variant", c.kernel.variant);
  io("device", c.device);
  io("problem", context.problem);
  io.later("precision", c.declared, kPrecision);
  io("verdict", c.verdict, word(kVerdicts, verdict_name));
  io("reason", c.reason);
  io("accuracy", c.accuracy);
  const auto time = [&](const char* key, auto& t) {
    if (io.has(key, t.has_value())) {
      io.require(key, c.verdict == verdict::pass, "only what has passed has a time");
    }
    io(key, t);
  };
  time("time", c.time);
  time("hot_time", c.hot_time);
  io.later("checks", c.findings);
  io("errors", c.errors);
  io("launches", c.launches);
  io.derived("gflops", context.gflops);
  io.derived("share_of_peak", context.share_of_peak);
  io.derived("floor", context.floor);
  io.derived("speedup_over_baseline", context.speedup);
  io.derived("speedup_interval", context.speedup_interval);
  if (io.has("conditions", c.conditions.any())) io("conditions", c.conditions);
  if (io.has("end_to_end", c.end_to_end.has_value())) io("end_to_end", c.end_to_end);
  if (io.has("published_ms", !context.published_ms.empty()))
    io("published_ms", context.published_ms, kFigures);
}

void map(auto& io, is<results::agreement> auto& a, auto& problem) {
  io("problem", problem);
  io("a", a.a);
  io("b", a.b);
  io("max_abs_diff", a.difference.max_abs_diff);
  io("worst_of_allowed", a.difference.worst_of_allowed);
  io.numbers("worst_at", "two numbers, row and column", a.difference.worst_row,
             a.difference.worst_col);
  io("agree", a.difference.agree);
}

json to_json(const results::document& d, const results::cell& c) {
  cell_context context{d.problem_of(c), {}, d.gflops(c), d.share_of_peak(c), d.floor_of(c), {}, {}};
  for (std::size_t i = 0; i < d.experiment.published.columns.size(); ++i) {
    if (const auto ms = d.published_ms(c, i))
      context.published_ms.emplace_back(d.experiment.published.columns[i].label, *ms);
  }
  if (const auto speedup = d.speedup(c)) {
    context.speedup = speedup->value;
    if (const auto& likely = speedup->likely)
      context.speedup_interval = {likely->low, likely->high};
  }
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

json to_json(const results::document& d, const results::agreement& a) {
  const std::string problem = problem_name(d.experiment.problems[a.problem]);
  writer io;
  map(io, a, problem);
  return io.take();
}

stored_agreement read_agreement(const field& f) {
  stored_agreement read;
  reader io(f);
  map(io, read.agreement, read.problem);
  return read;
}

json to_json(const std::vector<results::finding>& findings) { return to_value(findings); }

}  // namespace kzoo::storage
