// Reads a whole run from JSON. Figures that follow from others are not read but recomputed.

#include "storage/field.hpp"
#include "storage/peaks_json.hpp"
#include "storage/results_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace kzoo::storage {
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
  if (p.m < 1 || p.n < 1 || p.k < 1 || p.padding < 0) f.refuse("expected sizes from 1 on");
  if (!std::isfinite(p.alpha) || !std::isfinite(p.beta)) {
    f.refuse("alpha and beta must be numbers");
  }
  return p;
}

results::plugin_record read_plugin(const field& f) {
  results::plugin_record p;
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

void read_timing(const field& f, results::timing_options& timing) {
  timing.enabled = f.at("enabled").flag();
  timing.mode = f.at("mode").one_of(results::kCacheModes, results::mode_name);
  timing.rounds = f.at("rounds").integer<int>();
  timing.warmup = f.at("warmup").integer<int>();
  timing.min_samples = f.at("min_samples").integer<int>();
  timing.max_relative_half_width = f.at("max_noise").number();
  timing.max_seconds = f.at("max_seconds").number();
  timing.end_to_end = f.at("end_to_end").flag();
  if (const auto fresh = f.find("fresh_processes")) timing.fresh_processes = fresh->flag();
}

results::experiment read_experiment(const field& f) {
  results::experiment e;
  e.file = f.at("file").text();
  e.title = f.at("title").text();
  e.intended_device = f.at("intended_device").text();
  if (const auto baseline = f.find("baseline")) {
    e.baseline = selector{baseline->text(), {}};
  }
  read_timing(f.at("timing"), e.timing);
  const field verify = f.at("verify");
  if (const auto name = verify.find("tier")) e.verify.tier = name->one_of(kTiers, tier_name);
  e.verify.timeout_seconds = verify.at("timeout_seconds").number();
  if (const auto choice = verify.find("impossible_time")) {
    e.verify.impossible_time =
        choice->one_of(results::kImpossibleTimes, results::impossible_time_name);
  }
  e.published.source = f.at("published_source").text();
  if (const auto labels = f.find("published_columns")) {
    for (std::string& label : read_texts(*labels)) {
      e.published.columns.push_back({std::move(label), {}});
    }
  }
  if (const auto pivot = f.find("pivot")) {
    e.pivot_table = {pivot->at("rows").one_of(results::kPivotAxes, results::axis_name),
                     pivot->at("columns").one_of(results::kPivotAxes, results::axis_name),
                     pivot->at("value").one_of(results::kPivotValues, results::value_name)};
  }
  const field overrides = f.at("overrides");
  if (const auto device = overrides.find("device")) e.overridden.device = device->text();
  e.overridden.plugins = read_texts(overrides.at("plugins"));
  e.overridden.sizes = read_texts(overrides.at("sizes"));
  if (const auto name = overrides.find("tier")) e.overridden.tier = name->text();
  e.text = f.at("text").text();
  return e;
}

results::device read_device(const field& f) {
  results::device d;
  d.id = f.at("id").text();
  d.name = f.at("name").text();
  d.memory_bytes = f.at("memory_bytes").integer<std::uint64_t>();
  for (const auto& [name, fact] : f.at("facts").entries()) d.facts[name] = fact.text();
  return d;
}

// Collects the published figures, which JSON keeps in each cell, in their columns.
void read_published(const field& f, const results::cell& c, results::document& d) {
  auto& columns = d.experiment.published.columns;
  for (const auto& [label, ms] : f.entries()) {
    const auto found = std::ranges::find(columns, label, &results::published_column::label);
    auto& column = found == columns.end()
                       ? columns.emplace_back(results::published_column{label, {}})
                       : *found;
    column.ms[c.kernel.name() + "@" + shape_name(d.problem_of(c))] = ms.number();
  }
}

void read_cells(const field& f, results::document& d) {
  std::map<problem, std::size_t> known;
  for (const field& element : f.elements()) {
    results::cell c = read_cell(element);
    const problem p = read_problem(element.at("problem"));
    c.problem = known.emplace(p, known.size()).first->second;
    if (c.problem == d.experiment.problems.size()) d.experiment.problems.push_back(p);
    if (const auto published = element.find("published_ms")) read_published(*published, c, d);
    d.cells.push_back(std::move(c));
  }
}

void read_agreements(const field& f, results::document& d) {
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

results::document from_json(const nlohmann::ordered_json& j, const std::string& place) {
  const field root(j, place);
  const field schema = root.at("schema");
  if (schema.text() != kSchema) {
    schema.refuse(fmt::format("this kernel-zoo reads {}, and not {}", kSchema, schema.text()));
  }
  results::document d;
  d.version = root.at("runner").at("version").text();
  d.started = root.at("started").text();
  d.wall_seconds = root.at("wall_seconds").number();
  // The first files of this schema lack these, as they lack checks, tiers and measured peaks.
  if (const auto host = root.find("host")) d.host = host->text();
  if (const auto invoked = root.find("invocation")) {
    d.invoked = {read_texts(invoked->at("plugin_folders")), invoked->at("in_process").flag()};
  }
  if (const auto planned = root.find("planned_cells")) d.planned = planned->integer<std::size_t>();
  d.experiment = read_experiment(root.at("experiment"));
  d.device = read_device(root.at("device"));
  const auto devices = root.find("devices");
  d.devices = devices ? read_texts(*devices) : std::vector{d.device.id};
  if (const auto peaks = root.find("ceilings")) d.peaks = read_peaks(*peaks);
  d.notes = read_texts(root.at("notes"));
  for (const field& p : root.at("plugins").elements()) d.plugins.push_back(read_plugin(p));
  read_cells(root.at("cells"), d);
  read_agreements(root.at("agreement"), d);
  return d;
}

}  // namespace kzoo::storage
