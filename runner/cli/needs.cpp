#include "cli/commands.hpp"

#include "input/diagnostics.hpp"
#include "os/output.hpp"
#include "run/choose_cells.hpp"
#include "run/plan.hpp"
#include "setup/plan.hpp"
#include "source/description.hpp"

#include <set>
#include <utility>

namespace kzoo::cli {
namespace {

constexpr const char* kAnyPlugin = "*";

std::vector<selector> selected(const std::vector<std::string>& names) {
  std::vector<selector> all;
  for (const std::string& name : names) all.push_back({name, {}});
  return all;
}

// Whether the file has GPU kernels but no plugin.
bool is_bare_kernel(const std::string& path) try {
  return source::describe(path, path, source::read_source(path, path)).is_bare;
} catch (const input::invalid&) {
  return false;
}

// Needs of an experiment that runs on its own device.
needs needs_of_experiment(results::experiment e) {
  if (e.baseline) e.plugins.push_back(*e.baseline);
  return {{e.device}, std::move(e.plugins)};
}

// Needs of single cells, on a device that the command decides.
template <class Options>
needs needs_of_cells(const Options& o, const char* device) {
  results::experiment e = setup::load_experiment(o, o);
  setup::select_cells(e, run::parse_cells(o.cells));
  e.device = device;
  return needs_of_experiment(std::move(e));
}

}  // namespace

needs needs_of(const run_options& o) {
  if (o.resume) return needs_of_experiment(resumed_experiment(o));
  if (!o.file.empty()) return needs_of_experiment(setup::load_experiment(o, o));
  return {{o.over.device.value_or("")}, {}, true};
}

needs needs_of(const tune_options& o) { return needs_of(tuning_run(o)); }

needs needs_of(const rerun_options& o) { return needs_of_experiment(repeated_experiment(o)); }

needs needs_of(const validate_options& o) {
  std::vector<std::string> devices{"auto", "cpu"};
  if (o.device) devices = {*o.device};
  return {std::move(devices), selected({o.plugin})};
}

needs needs_of(const profile_options& o) { return needs_of_cells(o, "cuda"); }
needs needs_of(const xray_options& o) { return needs_of_cells(o, "cpu"); }

needs needs_of(const judge_options& o) {
  if (o.compile_only) return needs_of(compile_request(o));
  results::experiment e = experiment_of(o);
  for (const std::string& file : o.files) e.plugins.push_back({file, {}});
  return needs_of_experiment(std::move(e));
}

needs needs_of(const list_options& o) {
  return {{"auto"}, selected(o.plugins.empty() ? std::vector<std::string>{kAnyPlugin} : o.plugins)};
}

needs needs_of(const describe_options& o) { return {{"auto"}, selected({o.plugin})}; }

needs needs_of(const compile_options& o) {
  needs needed{{o.device}, {}};
  for (const std::string& file : o.files) needed.plugins.push_back({"./" + file, {}});
  return needed;
}

needs needs_of(const watch_options& o) {
  watch_options with_source = o;
  with_source.over.plugins.push_back(o.source);
  return needs_of_experiment(setup::load_experiment(with_source, with_source));
}

needs needs_of(const report_options& o) {
  needs needed;
  needed.charts = o.html || o.svg;
  return needed;
}

void print_needs(const needs& n) {
  std::set<std::string> lines;
  for (const std::string& device : n.devices)
    lines.insert("device " + (device.empty() ? "auto" : device.substr(0, device.find(':'))));
  for (const selector& s : n.plugins) {
    const auto file = as_file(s.text);
    const std::string name = s.text.substr(0, s.text.find(':'));
    if (!file)
      lines.insert(is_kernel_name(name) ? "plugin " + name : "plugins");
    else if (file->path.ends_with(".toml") || is_bare_kernel(file->path))
      lines.insert("launcher");
  }
  if (n.experiment) lines.insert("experiment");
  if (n.charts) lines.insert("charts");
  for (const std::string& line : lines) print_to(stdout, "{}\n", line);
}

}  // namespace kzoo::cli
