#include "storage/cell_json.hpp"

#include "storage/describe.hpp"
#include "storage/field.hpp"
#include "storage/parts_json.hpp"
#include "storage/results_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace kzoo::storage {

using json = nlohmann::ordered_json;

// A resumed run counts on from the last round, which must not overflow.
constexpr int kLastRound = 1'000'000'000;

void describe(auto& fields, maybe_const<reference::accuracy> auto& a) {
  fields(KZOO_MEMBERS(a, max_abs_error, max_rho, rho_over_sqrt_k, worst_of_allowed));
  fields.numbers("worst_at", "two numbers, row and column", a.worst_row, a.worst_col);
  fields(KZOO_MEMBERS(a, relative_frobenius, digits, rows_checked));
}

void describe(auto& fields, maybe_const<results::launch> auto& l) {
  const char* extent = "three numbers, x, y and z";
  fields.numbers("grid", extent, l.grid[0], l.grid[1], l.grid[2]);
  fields.numbers("block", extent, l.block[0], l.block[1], l.block[2]);
  fields(KZOO_MEMBERS(l, dynamic_shared, static_shared, local_bytes, registers, resident_warps,
                      most_warps));
}

void describe(auto& fields, maybe_const<results::conditions> auto& c) {
  fields(KZOO_MEMBERS(c, sm_mhz, memory_mhz, celsius, watts, power_limit_watts, clock_reasons));
}

void describe(auto& fields, maybe_const<timing::end_to_end> auto& e) {
  fields(KZOO_MEMBERS(e, allocate_ms, to_device_ms, kernel_ms, to_host_ms));
  fields.derived("total_ms", e.total_ms());
}

// Recomputes the statistics, except for the interval.
void recompute(timing::summary& t) {
  if (t.samples_ms.empty()) return;
  const timing::summary figures =
      timing::summarise_without_interval(t.samples_ms.unpacked(), t.rounds.unpacked());
  t.median_ms = figures.median_ms;
  t.min_ms = figures.min_ms;
  t.spread = figures.spread;
}

void describe(auto& fields, maybe_const<timing::summary> auto& t) {
  const auto& ms = t.samples_ms;
  const auto& mhz = t.sm_mhz;
  fields.derived(KZOO_MEMBERS(t, median_ms, min_ms, spread));
  fields(KZOO_MEMBERS(t, clock), "cache", t.caches);
  fields.later("noise", t.relative_half_width);
  fields.require("noise", !(t.relative_half_width < 0), "expected a number from 0 on");
  fields("stopped_by", t.stopped, KZOO_MEMBERS(t, samples_ms));
  fields.require_each(
      "samples_ms", [&](auto i) { return ms[i] >= 0; }, "expected a time, from 0 on");
  fields.require("samples_ms", !ms.empty(), "expected at least one sample");
  fields(KZOO_MEMBERS(t, rounds));
  fields.require_each(
      "rounds", [&](auto i) { return t.rounds[i] >= 0 && t.rounds[i] <= kLastRound; },
      "expected a number from 0 to 1000000000");
  fields.require_each(
      "rounds", [&](auto i) { return i == 0 || t.rounds[i] >= t.rounds[i - 1]; },
      "the rounds are not in order");
  fields.require("rounds", t.rounds.size() == ms.size(), "expected one for each sample");
  fields.restore(recompute, t);
  const auto clocks = [&] {
    fields(KZOO_MEMBERS(t, sm_mhz));
    fields.require_each(
        "sm_mhz", [&](auto i) { return mhz[i] >= 0; }, "expected a clock in MHz, from 0 on");
    fields.require("sm_mhz", mhz.empty() || mhz.size() == ms.size(),
                   "expected a clock for each sample");
    fields(KZOO_MEMBERS(t, throttled, low_clock));
  };
  fields.when("sm_mhz", t.clock == timing::clock::gpu, clocks);
}

void describe(auto& fields, maybe_const<results::sustained> auto& s) {
  fields(KZOO_MEMBERS(s, time, settle_seconds, settled, watts, reported_watts, counter_seconds,
                      no_energy));
  fields.derived("joules", s.joules());
}

void describe(auto& fields, const roofline::floor& f) { fields(KZOO_MEMBERS(f, ms, resource)); }

constexpr conversion kFigures{[](const published_figures& all) {
                                json j = json::object();
                                for (const auto& [label, ms] : all) j[label] = ms;
                                return j;
                              },
                              [](const field& f, published_figures& all) {
                                for (const auto& [label, ms] : f.entries())
                                  all.emplace_back(label, ms.number());
                              },
                              R"({"type": "object", "additionalProperties": {"type": "number"}})"};

void describe(auto& fields, maybe_const<reference::comparison> auto& c) {
  fields(KZOO_MEMBERS(c, max_abs_diff, worst_of_allowed));
  fields.numbers("worst_at", "two numbers, row and column", c.worst_row, c.worst_col);
  fields(KZOO_MEMBERS(c, agree));
}

void describe(auto& fields, maybe_const<named_difference> auto& d) {
  fields(KZOO_MEMBERS(d, kernel));
  describe(fields, d.by);
}

// `c`: a results::cell; `context`: its cell_context.
void describe_cell(auto& fields, auto& c, auto& context) {
  fields(KZOO_MEMBERS(c.kernel, plugin, variant), KZOO_MEMBERS(c, device),
         KZOO_MEMBERS(context, problem));
  fields.later("precision", named{c.declared, kPrecisions, precision_name});
  fields(KZOO_MEMBERS(c, verdict, reason));
  fields.optional(KZOO_MEMBERS(c, check));
  fields(KZOO_MEMBERS(c, accuracy, time, hot_time));
  fields.optional(KZOO_MEMBERS(c, sustained));
  const auto passed_if = [&](const char* key, bool timed) {
    fields.require(key, !timed || c.verdict == verdict::pass, "only what has passed has a time");
  };
  passed_if("time", c.time.has_value());
  passed_if("hot_time", c.hot_time.has_value());
  passed_if("sustained", c.sustained.has_value());
  fields("checks", c.findings);
  const std::string invariant = results::batch_invariance(c.findings);
  fields.when("batch_invariant", !invariant.empty(),
              [&] { fields.derived("batch_invariant", invariant); });
  fields(KZOO_MEMBERS(c, errors, launches));
  fields.optional(KZOO_MEMBERS(c, libraries, judge_seconds, time_seconds));
  fields.derived(KZOO_MEMBERS(context, gflops, share_of_peak, floor));
  describe_speedup(fields, c.speedup);
  fields.optional(KZOO_MEMBERS(c, baseline_ms));
  fields.require("baseline_ms", !c.baseline_ms || *c.baseline_ms > 0, "a number above 0");
  fields.optional(KZOO_MEMBERS(context, same_as, differs_from),
                  KZOO_MEMBERS(c, conditions, end_to_end), "published_ms",
                  converted{context.published_ms, kFigures});
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
  writer fields;
  describe_cell(fields, c, std::as_const(context));
  return fields.take();
}

json cell_schema() {
  stored_cell any;
  schema_writer fields;
  describe_cell(fields, any.cell, any.context);
  return fields.take();
}

stored_cell read_cell(const field& f) {
  stored_cell read;
  reader fields(f);
  describe_cell(fields, read.cell, read.context);
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

namespace {

results::published_column& column_of(std::vector<results::published_column>& columns,
                                     const std::string& label) {
  const auto found = std::ranges::find(columns, label, &results::published_column::label);
  return found != columns.end() ? *found
                                : columns.emplace_back(results::published_column{label, {}});
}

}  // namespace

collected_cells::known_problem& collected_cells::entry_of(const problem& p,
                                                          std::optional<std::size_t> number,
                                                          const field& cell) {
  const auto [found, is_new] =
      problems_.try_emplace(p, known_problem{number.value_or(problems_.size()), {}});
  known_problem& entry = found->second;
  const auto [named, first] = by_number_.try_emplace(entry.number, &found->first);
  if (number.value_or(entry.number) != entry.number || named->second != &found->first) {
    cell.at("problem").refuse(fmt::format("{} is problem {}, and so is {}", problem_name(p),
                                          number.value_or(entry.number),
                                          problem_name(*named->second)));
  }
  return entry;
}

std::vector<const kernel_id*> collected_cells::kernels_of(const known_problem& p) const {
  std::vector<const kernel_id*> kernels;
  for (const std::uint32_t i : p.cells) kernels.push_back(&cells_[i].kernel);
  return kernels;
}

void collected_cells::add(const field& cell, std::optional<std::size_t> number) {
  stored_cell read = read_cell(cell);
  known_problem& entry = entry_of(read.context.problem, number, cell);
  const std::vector<const kernel_id*> earlier = kernels_of(entry);
  const auto is_same = [&](const kernel_id* k) { return *k == read.cell.kernel; };
  if (std::ranges::any_of(earlier, is_same)) {
    cell.refuse(fmt::format("{} on {} is there twice", read.cell.kernel.name(),
                            problem_name(read.context.problem)));
  }
  place_among(read, earlier, cell);
  read.cell.problem = entry.number;
  add_published(read.context.published_ms,
                read.cell.kernel.name() + "@" + shape_name(read.context.problem));
  entry.cells.push_back(static_cast<std::uint32_t>(cells_.size()));
  cells_.push_back(std::move(read.cell));
}

// JSON keeps the published figures in each cell.
void collected_cells::add_published(const published_figures& figures, const std::string& cell) {
  for (const auto& [label, ms] : figures) column_of(published_, label).ms[cell] = ms;
}

void collected_cells::move_published(results::document& d) {
  for (results::published_column& column : published_)
    column_of(d.experiment.published.columns, column.label).ms.merge(column.ms);
}

// Replaces problem numbers of the experiment by indices of the problems that have cells.
void collected_cells::number_problems(results::document& d) {
  if (!std::ranges::is_sorted(cells_, {}, &results::cell::problem))
    std::ranges::stable_sort(cells_, {}, &results::cell::problem);
  for (const auto& [number, problem] : by_number_) d.experiment.problems.push_back(*problem);
  std::size_t index = 0, number = cells_.empty() ? 0 : cells_.front().problem;
  for (results::cell& c : cells_) {
    if (c.problem != std::exchange(number, c.problem)) ++index;
    c.problem = index;
  }
}

void collected_cells::move_into(results::document& d) {
  number_problems(d);
  move_published(d);
  d.cells = std::exchange(cells_, {});
  for (auto begin = d.cells.begin(); begin != d.cells.end();) {
    const auto end = std::ranges::find_if(
        begin, d.cells.end(), [&](const results::cell& c) { return c.problem != begin->problem; });
    d.compare_with_baseline({begin, end});
    begin = end;
  }
}

}  // namespace kzoo::storage
