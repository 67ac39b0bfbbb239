#include "experiment/load.hpp"

#include "experiment/names.hpp"
#include "experiment/problems.hpp"
#include "experiment/reader.hpp"
#include "experiment/tuning_space.hpp"
#include "input/diagnostics.hpp"
#include "os/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

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

  file.find("allow");  // is read with the problems
  if (const auto device = file.find("device")) e.device_where = device->content.where;
}

void read_timing(table_reader& keys, results::timing_options& timing) {
  keys.read("enabled", timing.enabled, flag);
  keys.read("mode", timing.mode, one_of<results::cache_mode>());
  keys.read("power", timing.power, one_of<results::power_mode>());
  keys.read("rounds", timing.rounds, integer_in(1, 1000));
  keys.read("warmup", timing.warmup, integer_in(0, 1000));
  keys.read("min_samples", timing.min_samples, integer_in(1, 10000));
  keys.read("max_noise", timing.max_relative_half_width, number_above_zero(1));
  keys.read("max_seconds", timing.max_seconds, number_above_zero(kDay));
  keys.read("end_to_end", timing.end_to_end, flag);
  keys.read("fresh_processes", timing.fresh_processes, flag);
  keys.read("require_locked_clocks", timing.require_locked_clocks, flag);
  keys.read("drop_slower", timing.drop_slower, flag);
}

void read_verify(table_reader& keys, results::verify_options& verify) {
  keys.read("tier", verify.tier, one_of<tier>());
  keys.read("timeout_seconds", verify.timeout_seconds, number_above_zero(kDay));
  keys.read("impossible_time", verify.impossible_time, one_of<results::impossible_time>());
}

void read_spaces(table_reader& keys, std::map<std::string, results::tuning_space>& spaces) {
  for (const auto& [entry, content] : keys.all())
    if (auto space = read_tuning_space(content)) spaces.emplace(entry.key, std::move(*space));
}

void read_pivot(table_reader& keys, bool has_baseline, results::experiment& e) {
  const auto axis = one_of<results::pivot_axis>();
  results::pivot table;
  keys.read("rows", table.rows, axis);
  keys.read("columns", table.columns, axis);
  keys.read("value", table.value, one_of<results::pivot_value>());
  const auto columns = keys.find("columns");
  const auto culprit = columns ? columns : keys.find("rows");
  if (table.rows == table.columns && culprit)
    culprit->error("rows and columns are the same; choose two different ones");
  if (const auto value = keys.find("value");
      table.value == results::pivot_value::speedup && !has_baseline)
    value->error("a speedup needs a baseline, and the file names none; add baseline = \"...\"");
  e.pivot_table = table;
}

// [published]: times measured elsewhere, shown next to the results.

constexpr std::string_view kKeyForm =
    "a plugin such as \"smem\", or a variant such as \"smem:32x32\", with or without a size such "
    "as \"@1024\" or \"@512x256x128\"";

struct figure_key {
  std::string cell;  // "smem:32x32"
  extents size;
};

// "smem:32x32@1024"; the size is optional if the file has only one.
std::optional<figure_key> parse_key(const table_entry& entry, const std::vector<extents>& shapes,
                                    input::diagnostics& report) {
  const std::string_view key = entry.key;
  const std::size_t sign = key.find('@');
  const std::string_view cell = key.substr(0, sign);
  if (!is_kernel_name(cell)) {
    report.error(entry.where, "expected {}, found {}", kKeyForm, input::in_quotes(key));
    return {};
  }
  if (sign != std::string_view::npos) {
    const auto size = parse_shape(key.substr(sign + 1));
    if (size) return figure_key{std::string(cell), *size};
    report.error(entry.where, "after the @ in {}: expected {}", input::in_quotes(key), kShapeForm);
    return {};
  }
  if (shapes.size() == 1) return figure_key{std::string(cell), shapes.front()};
  if (!shapes.empty())
    report.error(entry.where, "{} needs a size, as in \"{}@{}\": the experiment has {}",
                 input::in_quotes(key), cell, shape_text(shapes.front()), shapes.size());
  return {};
}

double milliseconds(double gflops, const extents& s) {
  const problem p{s[0], s[1], s[2]};
  return p.flops() / (gflops * 1e6);
}

void read_column(const node_table& table, const value& column, bool in_gflops,
                 const std::vector<extents>& shapes, std::map<std::string, double>& ms) {
  constexpr double kMost = 1e12;
  table_reader keys(table, column.name, column.report);
  for (const auto& [entry, content] : keys.all()) {
    const auto figure = number_above_zero(kMost)(content);
    const auto key = parse_key(entry, shapes, column.report);
    if (!figure || !key) continue;
    const std::string name = fmt::format("{}@{}", key->cell, shape_text(key->size));
    const double time = in_gflops ? milliseconds(*figure, key->size) : *figure;
    if (!ms.emplace(name, time).second)
      column.report.error(entry.where, "{} has a figure already", input::in_quotes(name));
  }
}

void read_columns(table_reader& columns, bool in_gflops, const std::vector<extents>& shapes,
                  std::vector<results::published_column>& result) {
  for (const auto& [entry, content] : columns.all()) {
    const auto* table = content.get<node_table>();
    const bool taken =
        std::ranges::find(result, entry.key, &results::published_column::label) != result.end();
    if (entry.key.empty())
      content.report.error(entry.where, "a published column needs a label");
    else if (taken)
      content.report.error(entry.where, "the column {} already exists, under ms",
                           input::in_quotes(entry.key));
    else if (!table)
      content.expected("a table of figures");
    else
      read_column(*table, content, in_gflops, shapes,
                  result.emplace_back(results::published_column{entry.key, {}}).ms);
  }
}

// `shapes`: the file's, not --sizes'; empty: unreadable. A single shape is every figure's default.
results::published read_published(table_reader& keys, const std::vector<extents>& shapes) {
  results::published result;
  keys.read("source", result.source, text);
  keys.read_table("ms", [&](table_reader& t) { read_columns(t, false, shapes, result.columns); });
  keys.read_table("gflops",
                  [&](table_reader& t) { read_columns(t, true, shapes, result.columns); });
  return result;
}

// A kernel that runs without pauses overwrites its C again and again.
void check_repeatable(const results::experiment& e, const std::vector<problem_set>& sets,
                      input::diagnostics& report) {
  const auto adds = std::ranges::find_if(sets, [](const problem_set& set) {
    return std::ranges::any_of(set.beta, [](double beta) { return beta != 0; });
  });
  if (adds == sets.end() || e.timing.power == results::power_mode::burst) return;
  report.error(
      adds->beta_where,
      "timing.power = \"{}\" repeats a product without filling C again, which needs beta = 0",
      name_of(e.timing.power));
}

// Parses the words of a flag and reports unknown words.
template <class T>
std::vector<T> parsed(const char* flag, const std::vector<std::string>& texts,
                      std::optional<T> (*parse)(std::string_view), std::string_view form,
                      input::diagnostics& report) {
  std::vector<T> wanted;
  for (const std::string& one : texts) {
    if (const auto known = parse(one))
      wanted.push_back(*known);
    else
      report.error({flag}, "expected {}, found {}", form, input::in_quotes(one));
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
    if (const auto known = from_name<tier>(*over.tier))
      e.verify.tier = *known;
    else
      report.error({"--verify"}, tier_fault(*over.tier));
  }
  if (over.baseline) {
    e.baseline = selector{*over.baseline, {"--baseline"}};
    if (!is_selector(*over.baseline))
      report.error({"--baseline"}, "expected {}, found {}", kSelectorForm,
                   input::in_quotes(*over.baseline));
  }
  if (over.tune) e.timing.drop_slower = e.verify.demands_precision = true;
  e.timing.budget_seconds = over.budget_seconds;
  if (!over.plugins.empty()) e.plugins.clear();
  for (const std::string& name : over.plugins) {
    e.plugins.push_back({name, {"--plugins"}});
    if (!is_selector(name))
      report.error({"--plugins"}, "expected {}, found {}", kSelectorForm, input::in_quotes(name));
  }
}

// Keeps only the problems that --problems selects by number.
void keep_only(const std::vector<std::string>& texts, std::vector<problem>& problems,
               input::diagnostics& report) {
  std::vector<bool> kept(problems.size());
  for (const auto& [first, last] :
       parsed("--problems", texts, parse_numbers, kNumbersForm, report)) {
    if (last >= std::ssize(problems)) {
      report.error({"--problems"}, "there is no problem {}: the experiment has {}, numbered from 0",
                   last, problems.size());
      continue;
    }
    std::fill(kept.begin() + first, kept.begin() + last + 1, true);
  }
  std::size_t number = 0;
  std::erase_if(problems, [&](const problem&) { return !kept[number++]; });
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
  // Registers the sections first: an error for a misplaced key can then name the right section.
  for (const char* section : {"problem", "timing", "verify", "pivot", "published", "tune"})
    file.find(section);
  file.expect_table("problem", [](table_reader& keys) { read_problem(keys, {}); });
  file.expect_table("timing", [](table_reader& keys) {
    results::timing_options unused;
    read_timing(keys, unused);
  });
  file.expect_table("verify", [](table_reader& keys) {
    results::verify_options unused;
    read_verify(keys, unused);
  });
  std::vector<problem_set> sets = read_problem_sets(file, report);
  file.read_table("timing", [&](table_reader& keys) { read_timing(keys, e.timing); });
  file.read_table("tune", [&](table_reader& keys) { read_spaces(keys, e.spaces); });
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
  for (const kzoo_precision p :
       parsed("--allow", over.allow, precision_from_name, kPrecisionForm, report))
    for (problem_set& set : sets) set.allow.add(p);
  if (!report.any()) e.problems = expand(sets, report);
  if (!over.problems.empty() && !report.any()) keep_only(over.problems, e.problems, report);
  check_repeatable(e, sets, report);
  report.throw_if_any();
  return e;
}

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> spellings(const fs::path& name) {
  if (name.extension() == ".toml") return {name};
  return {name, fs::path(name) += ".toml"};
}

std::vector<fs::path> candidates(const fs::path& name, const std::vector<fs::path>& config_path) {
  std::vector<fs::path> result = spellings(name);
  if (name.is_absolute()) return result;
  for (const fs::path& folder : config_path)
    for (const fs::path& base : {folder, folder / "experiments"})
      for (const fs::path& spelling : spellings(name)) result.push_back(base / spelling);
  return result;
}

}  // namespace

std::vector<std::string> known_experiments(const std::vector<fs::path>& config_path) {
  std::vector<std::string> result;
  for (const fs::path& folder : config_path)
    for (const fs::path& file : paths_in(folder / "experiments", ".toml"))
      result.push_back(file.stem().string());
  std::ranges::sort(result);
  result.erase(std::ranges::unique(result).begin(), result.end());
  return result;
}

fs::path find_file(const std::string& name, const std::vector<fs::path>& config_path) {
  if (name.empty()) input::refuse("", "the name of the experiment file is empty");
  std::string looked;
  for (const fs::path& candidate : candidates(name, config_path)) {
    std::error_code fault;
    const fs::file_status status = fs::status(candidate, fault);
    if (fs::exists(status) && !fs::is_directory(status)) return candidate;
    std::string note;
    if (fs::is_directory(status))
      note = " (a directory)";
    else if (fault && status.type() != fs::file_type::not_found)
      note = fmt::format(" ({})", fault.message());
    looked += fmt::format("\n  {}{}", candidate.string(), note);
  }
  const std::vector<std::string> known = known_experiments(config_path);
  const auto close = input::nearest(fs::path(name).stem().string(), known);
  std::string hint;
  if (close)
    hint = fmt::format("\ndid you mean 'experiments/{}.toml'?", *close);
  else if (!known.empty())
    hint = fmt::format("\navailable experiments: {}", fmt::join(known, ", "));
  input::refuse(name, "there is no such experiment file; looked at{}{}", looked, hint);
}

}  // namespace kzoo::experiment
