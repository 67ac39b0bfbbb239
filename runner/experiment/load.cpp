#include "experiment/load.hpp"

#include "experiment/names.hpp"
#include "experiment/problems.hpp"
#include "experiment/published.hpp"
#include "experiment/reader.hpp"
#include "input/read_file.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kzoo::experiment {
namespace {

constexpr double kDay = 86400;

void read_top(table_reader& file, results::experiment& e, input::diagnostics& report) {
  file.read("title", e.title, text);
  file.read("description", e.description, text);
  file.read("device", e.device, text_such_that(is_device_name, kDeviceForm));
  file.read("intended_device", e.intended_device, text);
  const auto as_selector = [](const value& v) -> std::optional<selector> {
    const auto name = text_such_that(is_selector, kSelectorForm)(v);
    return name ? std::optional(selector{*name, v.content.where}) : std::nullopt;
  };
  file.read("baseline", e.baseline, as_selector);

  e.plugins = {{"*", report.at(0, 0)}};
  const auto plugins = file.find("plugins");
  const auto* list = plugins ? plugins->get<node_list>() : nullptr;
  if (list && list->empty())
    plugins->error("the plugin list is empty; name some, or leave the key out for all of them");
  else
    file.read_list("plugins", e.plugins, as_selector);

  if (const auto device = file.find("device")) e.device_where = device->content.where;
}

void read_timing(table_reader& keys, results::timing_options& timing) {
  keys.read("enabled", timing.enabled, flag);
  keys.read("mode", timing.mode, one_of(results::kCacheModes, results::mode_name));
  keys.read("power", timing.power, one_of(results::kPowerModes, results::power_mode_name));
  keys.read("rounds", timing.rounds, integer_in(1, 1000));
  keys.read("warmup", timing.warmup, integer_in(0, 1000));
  keys.read("min_samples", timing.min_samples, integer_in(1, 10000));
  keys.read("max_noise", timing.max_relative_half_width, number_above_zero(1));
  keys.read("max_seconds", timing.max_seconds, number_above_zero(kDay));
  keys.read("end_to_end", timing.end_to_end, flag);
  keys.read("fresh_processes", timing.fresh_processes, flag);
  keys.read("require_locked_clocks", timing.require_locked_clocks, flag);
}

void read_verify(table_reader& keys, results::verify_options& verify) {
  keys.read("tier", verify.tier, one_of(kTiers, tier_name));
  keys.read("timeout_seconds", verify.timeout_seconds, number_above_zero(kDay));
  keys.read("impossible_time", verify.impossible_time,
            one_of(results::kImpossibleTimes, results::impossible_time_name));
}

void read_pivot(table_reader& keys, bool has_baseline, results::experiment& e) {
  const auto axis = one_of(results::kPivotAxes, results::axis_name);
  results::pivot table;
  keys.read("rows", table.rows, axis);
  keys.read("columns", table.columns, axis);
  keys.read("value", table.value, one_of(results::kPivotValues, results::value_name));
  const auto columns = keys.find("columns");
  const auto culprit = columns ? columns : keys.find("rows");
  if (table.rows == table.columns && culprit)
    culprit->error("rows and columns are the same; choose two different ones");
  if (const auto value = keys.find("value");
      table.value == results::pivot_value::speedup && !has_baseline)
    value->error("a speedup needs a baseline, and the file names none; add baseline = \"...\"");
  e.pivot_table = table;
}

// A kernel that runs without pauses writes its C again and again.
void check_repeatable(const results::experiment& e, const std::vector<problem_set>& sets,
                      input::diagnostics& report) {
  const auto adds = std::ranges::find_if(sets, [](const problem_set& set) {
    return std::ranges::any_of(set.beta, [](double beta) { return beta != 0; });
  });
  if (adds == sets.end() || e.timing.power == results::power_mode::burst) return;
  report.error(adds->beta_where,
               fmt::format("timing.power = \"{}\" repeats a product without filling C again, which "
                           "needs beta = 0",
                           results::power_mode_name(e.timing.power)));
}

// What the words of a flag mean; those that mean nothing are reported.
template <class T>
std::vector<T> parsed(const char* flag, const std::vector<std::string>& texts,
                      std::optional<T> (*parse)(std::string_view), std::string_view form,
                      input::diagnostics& report) {
  std::vector<T> wanted;
  for (const std::string& one : texts) {
    if (const auto known = parse(one))
      wanted.push_back(*known);
    else
      report.error({flag}, fmt::format("expected {}, found {}", form, input::in_quotes(one)));
  }
  return wanted;
}

void apply(const results::overrides& over, results::experiment& e, input::diagnostics& report) {
  if (over.device) {
    if (!is_device_name(*over.device)) report.error({"--device"}, device_fault(*over.device));
    e.device = *over.device;
    e.device_where = {"--device"};
  }
  if (over.tier) {
    if (const auto known = find_tier(*over.tier))
      e.verify.tier = *known;
    else
      report.error({"--verify"}, tier_fault(*over.tier));
  }
  if (!over.plugins.empty()) e.plugins.clear();
  for (const std::string& name : over.plugins) {
    e.plugins.push_back({name, {"--plugins"}});
    if (!is_selector(name))
      report.error({"--plugins"},
                   fmt::format("expected {}, found {}", kSelectorForm, input::in_quotes(name)));
  }
}

}  // namespace

results::experiment load(const std::filesystem::path& path, const results::overrides& over) {
  return load_text(path, input::read_file(path), over);
}

results::experiment load_text(const std::filesystem::path& path, std::string file_text,
                              const results::overrides& over) {
  results::experiment e;
  e.file = path;
  e.overridden = over;
  e.text = std::move(file_text);
  input::diagnostics report(path.string(), e.text);
  e.device_where = e.problems_where = report.at(0, 0);

  const node_table document = parse_document(e.text, report);
  report.throw_if_any();

  table_reader file(document, "", report);
  read_top(file, e, report);
  // Looked up before any section is read, so that the error for a key in the wrong section can name
  // the right one.
  for (const char* section : {"problem", "timing", "verify", "pivot", "published"})
    file.find(section);
  std::vector<problem_set> sets = read_problem_sets(file, report);
  file.read_table("timing", [&](table_reader& keys) { read_timing(keys, e.timing); });
  file.read_table("verify", [&](table_reader& keys) { read_verify(keys, e.verify); });
  file.read_table(
      "pivot", [&](table_reader& keys) { read_pivot(keys, file.find("baseline").has_value(), e); });
  file.read_table("published", [&](table_reader& keys) {
    e.published = read_published(keys, distinct_shapes(sets));
  });
  file.finish();
  if (!sets.empty()) e.problems_where = sets.front().where;

  apply(over, e, report);
  if (!over.sizes.empty()) {
    const auto shapes = parsed("--sizes", over.sizes, parse_shape, kShapeForm, report);
    for (problem_set& set : sets) set.shapes = shapes;
    e.problems_where = {"--sizes"};
  }
  if (!over.layouts.empty()) {
    const auto layouts = parsed("--layouts", over.layouts, find_layout, kLayoutForm, report);
    for (problem_set& set : sets) set.layouts = layouts;
  }
  if (!over.batches.empty()) {
    const auto counts = parsed("--batches", over.batches, parse_batch, kBatchForm, report);
    for (problem_set& set : sets) set.batch = counts;
    e.problems_where = {"--batches"};
  }
  if (!report.any()) e.problems = expand(sets, report);
  check_repeatable(e, sets, report);
  report.throw_if_any();
  return e;
}

}  // namespace kzoo::experiment
