// Reads a cell and an agreement from JSON. Statistics are recomputed from the samples.

#include "storage/field.hpp"
#include "storage/results_json.hpp"

#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace kzoo::storage {
namespace {

template <class T>
void read_place(const field& f, T& row, T& column) {
  const std::vector<field> both = f.elements();
  if (both.size() != 2) f.refuse("expected two numbers, row and column");
  row = both[0].integer<T>();
  column = both[1].integer<T>();
}

reference::accuracy read_accuracy(const field& f) {
  reference::accuracy a;
  a.max_abs_error = f.at("max_abs_error").number();
  a.max_rho = f.at("max_rho").number();
  a.rho_over_sqrt_k = f.at("rho_over_sqrt_k").number();
  a.worst_of_allowed = f.at("worst_of_allowed").number();
  read_place(f.at("worst_at"), a.worst_row, a.worst_col);
  a.relative_frobenius = f.at("relative_frobenius").number();
  a.digits = f.at("digits").number();
  a.rows_checked = f.at("rows_checked").integer<std::int64_t>();
  return a;
}

// The SM clock of each sample, and what throttling did to them; only for a GPU.
void read_clocks(const field& time, timing::summary& t) {
  const auto clocks = time.find("sm_mhz");
  if (!clocks) return;
  for (const field& mhz : clocks->elements()) {
    t.sm_mhz.push_back(mhz.number());
    if (!(t.sm_mhz.back() >= 0)) mhz.refuse("expected a clock in MHz, from 0 on");
  }
  if (!t.sm_mhz.empty() && t.sm_mhz.size() != t.samples_ms.size())
    clocks->refuse("expected a clock for each sample");
  t.throttled = time.at("throttled").integer<int>();
  t.low_clock = time.at("low_clock").flag();
}

results::conditions read_conditions(const field& f) {
  const auto number = [&](const char* key) {
    const auto found = f.find(key);
    return found ? std::optional(found->number()) : std::nullopt;
  };
  results::conditions c{number("sm_mhz"), number("memory_mhz"),        number("celsius"),
                        number("watts"),  number("power_limit_watts"), {}};
  for (const field& reason : f.at("clock_reasons").elements()) {
    c.clock_reasons.insert(reason.text());
  }
  return c;
}

timing::end_to_end read_end_to_end(const field& f) {
  return {f.at("allocate_ms").number(), f.at("to_device_ms").number(), f.at("kernel_ms").number(),
          f.at("to_host_ms").number()};
}

timing::summary read_time(const field& f) {
  std::vector<double> samples;
  for (const field& ms : f.at("samples_ms").elements()) {
    samples.push_back(ms.number());
    if (!(samples.back() >= 0)) ms.refuse("expected a time, from 0 on");
  }
  if (samples.empty()) f.at("samples_ms").refuse("expected at least one sample");
  std::vector<int> rounds;
  for (const field& round : f.at("rounds").elements()) {
    rounds.push_back(round.integer<int>());
    if (rounds.size() > 1 && rounds.back() < rounds[rounds.size() - 2]) {
      round.refuse("the rounds are not in order");
    }
  }
  if (rounds.size() != samples.size()) f.at("rounds").refuse("expected one for each sample");
  timing::summary t = timing::summarise(std::move(samples), std::move(rounds));
  t.clock = f.at("clock").one_of(timing::kClocks, timing::clock_name);
  t.caches = f.at("cache").one_of(timing::kCaches, timing::caches_name);
  t.out_of_time = f.at("stopped_by").text() == "time";
  read_clocks(f, t);
  return t;
}

std::array<std::uint32_t, 3> read_extent(const field& f) {
  const std::vector<field> sides = f.elements();
  std::array<std::uint32_t, 3> extent{};
  if (sides.size() != extent.size()) f.refuse("expected three numbers, x, y and z");
  for (std::size_t i = 0; i < extent.size(); ++i) extent[i] = sides[i].integer<std::uint32_t>();
  return extent;
}

results::launch read_launch(const field& f) {
  results::launch l;
  l.grid = read_extent(f.at("grid"));
  l.block = read_extent(f.at("block"));
  l.dynamic_shared = f.at("dynamic_shared").integer<std::uint64_t>();
  l.static_shared = f.at("static_shared").integer<std::uint64_t>();
  l.local_bytes = f.at("local_bytes").integer<std::uint64_t>();
  l.registers = f.at("registers").integer<std::uint32_t>();
  l.resident_warps = f.at("resident_warps").integer<std::uint32_t>();
  l.most_warps = f.at("most_warps").integer<std::uint32_t>();
  return l;
}

reference::error_map read_errors(const field& f) {
  reference::error_map map;
  map.rows_per_line = f.at("rows_per_line").integer<std::int64_t>();
  map.columns_per_character = f.at("columns_per_character").integer<std::int64_t>();
  for (const field& line : f.at("map").elements()) map.picture.push_back(line.text());
  for (const field& one : f.at("first").elements()) {
    map.first.push_back({one.at("row").integer<std::int64_t>(),
                         one.at("column").integer<std::int64_t>(), one.at("expected").number(),
                         one.at("got").number(), one.at("unwritten").flag()});
  }
  return map;
}

results::finding read_finding(const field& f) {
  results::finding found{f.at("check").text(),
                         f.at("outcome").one_of(results::kOutcomes, results::outcome_name),
                         f.at("detail").text(),
                         {}};
  if (const auto errors = f.find("errors")) found.errors = read_errors(*errors);
  return found;
}

}  // namespace

results::cell read_cell(const field& f) {
  results::cell c;
  c.kernel.plugin = f.at("plugin").text();
  c.kernel.variant = f.at("variant").text();
  c.device = f.at("device").text();
  if (const auto name = f.find("precision")) c.declared = name->one_of(kPrecisions, precision_name);
  c.verdict = f.at("verdict").one_of(kVerdicts, verdict_name);
  c.reason = f.at("reason").text();
  if (const auto accuracy = f.find("accuracy")) c.accuracy = read_accuracy(*accuracy);
  for (const auto& [key, to] : {std::pair{"time", &c.time}, {"hot_time", &c.hot_time}}) {
    const auto time = f.find(key);
    if (!time) continue;
    if (c.verdict != verdict::pass) time->refuse("only what has passed has a time");
    *to = read_time(*time);
  }
  if (const auto whole = f.find("end_to_end")) c.end_to_end = read_end_to_end(*whole);
  if (const auto state = f.find("conditions")) c.conditions = read_conditions(*state);
  if (const auto checks = f.find("checks")) {
    for (const field& check : checks->elements()) c.findings.push_back(read_finding(check));
  }
  if (const auto errors = f.find("errors")) c.errors = read_errors(*errors);
  for (const field& l : f.at("launches").elements()) c.launches.push_back(read_launch(l));
  return c;
}

results::agreement read_agreement(const field& f) {
  results::agreement a{0, f.at("a").text(), f.at("b").text(), {}};
  a.difference.max_abs_diff = f.at("max_abs_diff").number();
  a.difference.worst_of_allowed = f.at("worst_of_allowed").number();
  read_place(f.at("worst_at"), a.difference.worst_row, a.difference.worst_col);
  a.difference.agree = f.at("agree").flag();
  return a;
}

}  // namespace kzoo::storage
