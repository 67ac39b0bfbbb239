// The way back from JSON. Figures that follow from others are not read: they are worked out again.

#include "results/ceilings.hpp"
#include "results/field.hpp"
#include "results/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace kzoo::results {
namespace {

problem read_problem(const field& f) {
  problem p;
  p.m = f.at("m").integer<std::int64_t>();
  p.n = f.at("n").integer<std::int64_t>();
  p.k = f.at("k").integer<std::int64_t>();
  p.dtype = f.at("dtype").one_of(kElementTypes, type_name);
  p.alpha = f.at("alpha").number();
  p.beta = f.at("beta").number();
  p.data = f.at("fill").one_of(kFills, fill_name);
  p.padding = f.at("padding").integer<std::int64_t>();
  p.seed = f.at("seed").integer<std::uint64_t>();
  return p;
}

template <class T>
void read_place(const field& f, T& row, T& column) {
  const std::vector<field> both = f.elements();
  if (both.size() != 2) f.refuse("expected two numbers, row and column");
  row = both[0].integer<T>();
  column = both[1].integer<T>();
}

referee::accuracy read_accuracy(const field& f) {
  referee::accuracy a;
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

// Each sample's clock, and what came of it: of a GPU.
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

devices::conditions read_conditions(const field& f) {
  const auto number = [&](const char* key) {
    const auto found = f.find(key);
    return found ? std::optional(found->number()) : std::nullopt;
  };
  devices::conditions c{number("sm_mhz"), number("memory_mhz"),        number("celsius"),
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

workers::launch read_launch(const field& f) {
  workers::launch l;
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

referee::error_map read_errors(const field& f) {
  referee::error_map map;
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

verify::finding read_finding(const field& f) {
  verify::finding found{f.at("check").text(),
                        f.at("outcome").one_of(verify::kOutcomes, verify::outcome_name),
                        f.at("detail").text(),
                        {}};
  if (const auto errors = f.find("errors")) found.errors = read_errors(*errors);
  return found;
}

}  // namespace

cell read_cell(const field& f) {
  cell c;
  c.plugin = f.at("plugin").text();
  c.variant = f.at("variant").text();
  c.device = f.at("device").text();
  if (const auto name = f.find("precision")) c.declared = name->one_of(kPrecisions, precision_name);
  c.verdict = f.at("verdict").one_of(kVerdicts, verdict_name);
  c.reason = f.at("reason").text();
  if (const auto accuracy = f.find("accuracy")) c.accuracy = read_accuracy(*accuracy);
  if (const auto time = f.find("time")) c.time = read_time(*time);
  if (const auto time = f.find("hot_time")) c.hot_time = read_time(*time);
  if (const auto whole = f.find("end_to_end")) c.end_to_end = read_end_to_end(*whole);
  if (const auto state = f.find("conditions")) c.conditions = read_conditions(*state);
  if (const auto checks = f.find("checks")) {
    for (const field& check : checks->elements()) c.findings.push_back(read_finding(check));
  }
  if (const auto errors = f.find("errors")) c.errors = read_errors(*errors);
  for (const field& l : f.at("launches").elements()) c.launches.push_back(read_launch(l));
  return c;
}

agreement read_agreement(const field& f) {
  agreement a{0, f.at("a").text(), f.at("b").text(), {}};
  a.difference.max_abs_diff = f.at("max_abs_diff").number();
  a.difference.worst_of_allowed = f.at("worst_of_allowed").number();
  read_place(f.at("worst_at"), a.difference.worst_row, a.difference.worst_col);
  a.difference.agree = f.at("agree").flag();
  return a;
}

namespace {

plugin_record read_plugin(const field& f) {
  plugin_record p;
  p.name = f.at("name").text();
  p.file = f.at("file").text();
  if (const auto hash = f.find("sha256")) p.sha256 = hash->text();
  if (const auto problem = f.find("problem")) {
    p.problem = problem->text();
    return p;
  }
  p.description.emplace();
  p.description->id = f.at("id").text();
  p.description->summary = f.at("summary").text();
  p.description->build_info = f.at("build").text();
  p.description->native = f.at("native").flag();
  return p;
}

std::vector<std::string> read_texts(const field& f) {
  std::vector<std::string> texts;
  for (const field& element : f.elements()) texts.push_back(element.text());
  return texts;
}

void read_timing(const field& f, experiment::timing_options& timing) {
  timing.enabled = f.at("enabled").flag();
  timing.mode = f.at("mode").one_of(experiment::kCacheModes, experiment::mode_name);
  timing.rounds = f.at("rounds").integer<int>();
  timing.warmup = f.at("warmup").integer<int>();
  timing.min_samples = f.at("min_samples").integer<int>();
  timing.max_noise = f.at("max_noise").number();
  timing.max_seconds = f.at("max_seconds").number();
  timing.end_to_end = f.at("end_to_end").flag();
}

experiment::experiment read_experiment(const field& f) {
  experiment::experiment e;
  e.file = f.at("file").text();
  e.title = f.at("title").text();
  e.intended_device = f.at("intended_device").text();
  if (const auto baseline = f.find("baseline")) {
    e.baseline = experiment::selector{baseline->text(), {}};
  }
  read_timing(f.at("timing"), e.timing);
  const field verify = f.at("verify");
  if (const auto name = verify.find("tier")) e.verify.tier = name->one_of(kTiers, tier_name);
  e.verify.timeout_seconds = verify.at("timeout_seconds").number();
  if (const auto choice = verify.find("impossible_time")) {
    e.verify.impossible_time =
        choice->one_of(experiment::kImpossibleTimes, experiment::impossible_time_name);
  }
  e.published.source = f.at("published_source").text();
  if (const auto labels = f.find("published_columns")) {
    for (std::string& label : read_texts(*labels)) {
      e.published.columns.push_back({std::move(label), {}});
    }
  }
  if (const auto pivot = f.find("pivot")) {
    e.pivot_table = {pivot->at("rows").one_of(experiment::kPivotAxes, experiment::axis_name),
                     pivot->at("columns").one_of(experiment::kPivotAxes, experiment::axis_name),
                     pivot->at("value").one_of(experiment::kPivotValues, experiment::value_name)};
  }
  const field overrides = f.at("overrides");
  if (const auto device = overrides.find("device")) e.overridden.device = device->text();
  e.overridden.plugins = read_texts(overrides.at("plugins"));
  e.overridden.sizes = read_texts(overrides.at("sizes"));
  if (const auto name = overrides.find("tier")) e.overridden.tier = name->text();
  e.text = f.at("text").text();
  return e;
}

devices::device read_device(const field& f) {
  devices::device d;
  d.id = f.at("id").text();
  d.name = f.at("name").text();
  d.memory_bytes = f.at("memory_bytes").integer<std::uint64_t>();
  for (const auto& [name, fact] : f.at("facts").entries()) d.facts[name] = fact.text();
  return d;
}

// The figures that stand in a cell, back in their columns.
void read_published(const field& f, const cell& c, document& d) {
  auto& columns = d.experiment.published.columns;
  for (const auto& [label, ms] : f.entries()) {
    const auto found = std::ranges::find(columns, label, &experiment::published_column::label);
    auto& column = found == columns.end()
                       ? columns.emplace_back(experiment::published_column{label, {}})
                       : *found;
    column.ms[c.kernel() + "@" + shape_name(d.problem_of(c))] = ms.number();
  }
}

void read_cells(const field& f, document& d) {
  std::map<problem, std::size_t> known;
  for (const field& element : f.elements()) {
    cell c = read_cell(element);
    const problem p = read_problem(element.at("problem"));
    c.problem = known.emplace(p, known.size()).first->second;
    if (c.problem == d.experiment.problems.size()) d.experiment.problems.push_back(p);
    if (const auto published = element.find("published_ms")) read_published(*published, c, d);
    d.cells.push_back(std::move(c));
  }
}

void read_agreements(const field& f, document& d) {
  std::map<std::string, std::size_t> known;
  for (const problem& p : d.experiment.problems) known.emplace(problem_name(p), known.size());
  for (const field& element : f.elements()) {
    const field name = element.at("problem");
    const auto problem = known.find(name.text());
    if (problem == known.end()) name.refuse(fmt::format("no cell is about {}", name.text()));
    d.agreements.push_back(read_agreement(element));
    d.agreements.back().problem = problem->second;
  }
}

}  // namespace

document from_json(const nlohmann::ordered_json& j, const std::string& place) {
  const field root(j, place);
  const field schema = root.at("schema");
  if (schema.text() != kSchema) {
    schema.refuse(fmt::format("this kernel-zoo reads {}, and not {}", kSchema, schema.text()));
  }
  document d;
  d.version = root.at("runner").at("version").text();
  d.started = root.at("started").text();
  d.wall_seconds = root.at("wall_seconds").number();
  // What the first files of this schema do not have; nor have they checks, tiers and ceilings.
  if (const auto host = root.find("host")) d.host = host->text();
  if (const auto invoked = root.find("invocation")) {
    d.invoked = {read_texts(invoked->at("plugin_folders")), invoked->at("in_process").flag()};
  }
  if (const auto planned = root.find("planned_cells")) d.planned = planned->integer<std::size_t>();
  d.experiment = read_experiment(root.at("experiment"));
  d.device = read_device(root.at("device"));
  const auto devices = root.find("devices");
  d.devices = devices ? read_texts(*devices) : std::vector{d.device.id};
  if (const auto ceilings = root.find("ceilings")) d.ceilings = read_ceilings(*ceilings);
  d.notes = read_texts(root.at("notes"));
  for (const field& p : root.at("plugins").elements()) d.plugins.push_back(read_plugin(p));
  read_cells(root.at("cells"), d);
  read_agreements(root.at("agreement"), d);
  return d;
}

}  // namespace kzoo::results
