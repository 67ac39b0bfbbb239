#include "setup/plan.hpp"

#include "compile/cache.hpp"
#include "core/kernel_name.hpp"
#include "experiment/load.hpp"
#include "input/diagnostics.hpp"
#include "os/output.hpp"
#include "os/places.hpp"
#include "setup/peaks.hpp"
#include "setup/source_plugins.hpp"
#include "xray/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <utility>

namespace kzoo::setup {

namespace fs = std::filesystem;

std::string stored_name(const std::string& name) {
  const auto file = as_file(name);
  if (!file) return name;
  return std::filesystem::absolute(file->path).lexically_normal().string() +
         (file->variant.empty() ? "" : ':' + file->variant);
}

results::overrides overrides_of(const common_options& common, const experiment_options& options) {
  results::overrides over = options.over;
  over.build_args = common.build_args;
  std::ranges::transform(over.plugins, over.plugins.begin(), stored_name);
  if (over.baseline) over.baseline = stored_name(*over.baseline);
  return over;
}

results::experiment load_experiment(const common_options& common,
                                    const experiment_options& options) {
  return experiment::load(experiment::find_file(options.file, config_path()),
                          overrides_of(common, options));
}

run::plugin_discovery discover_plugins(const common_options& options) {
  run::plugin_discovery plugins;
  for (const std::string& folder : options.plugin_folders) plugins.add_folder(folder, true);
  for (const auto& folder : plugin_folders()) plugins.add_folder(folder, false);
  for (const std::string& words : plugins.warnings()) print_to(stderr, "warning: {}\n", words);
  return plugins;
}

run::plugin_discovery discover_plugins(const common_options& options, results::experiment& e,
                                       const results::device& device) {
  run::plugin_discovery plugins = discover_plugins(options);
  const results::experiment written = e;
  add_files(e.plugins, written, device.abi.kind, plugins);
  if (e.baseline) {
    std::vector<selector> baseline{*e.baseline};
    add_files(baseline, written, device.abi.kind, plugins);
    e.baseline = baseline.front();
  }
  return plugins;
}

run::client_factory clients_for(const common_options& options, double timeout_seconds) {
  if (options.in_process) return client::make_local_client;
  return [timeout_seconds](const std::filesystem::path& file) {
    return client::make_process_client(file, timeout_seconds, compile::device_code_folder(file));
  };
}

// The resources that bound the times of the plan's cells.
static std::set<roofline::resource> resources_of(const run::plan& p) {
  std::set<roofline::resource> all{roofline::resource::read, roofline::resource::copy};
  for (const run::loaded_plugin& plugin : p.plugins) {
    for (const run::selected_variant& v : plugin.variants) {
      for (const problem& each : p.experiment.problems) {
        if (const auto r = roofline::resource_of(v.description.declared(each.dtype)))
          all.insert(*r);
      }
    }
  }
  return all;
}

run::plan plan_on(results::experiment e, results::device device, const common_options& options,
                  run::clients_use use) {
  const double timeout = e.verify.timeout_seconds;
  const results::experiment written = e;
  const run::plugin_discovery plugins = discover_plugins(options, e, device);
  run::find_access_analysis analyses = access_analyses(e.overridden.build_args);
  run::plan plan =
      run::make_plan(std::move(e), std::move(device), plugins, clients_for(options, timeout), use);
  plan.find_access_analysis = std::move(analyses);
  plan.inputs = files_of(written, plan.plugins);
  return plan;
}

static bool is_simulated(const run::loaded_plugin& p) {
  return !p.record.description || p.record.description->simulated();
}

run::plan plan_for(results::experiment e, const common_options& options) {
  std::vector<results::device> all = devices::find_all(e.device);
  if (all.size() > 1 && options.in_process)
    input::refuse("--in-process", "it is for one device; name it: --device cuda:N");
  if (all.size() > 1 && e.timing.budget_seconds)
    input::refuse("--budget", "it is for one device; name it: --device cuda:N");
  if (e.timing.fresh_processes && options.in_process) {
    input::refuse("--in-process",
                  "the experiment's timing.fresh_processes needs a process for each turn");
  }
  if (e.timing.enabled && e.timing.require_locked_clocks)
    std::ranges::for_each(all, require_locked_clocks);
  const bool is_timed = e.timing.enabled;
  // On several devices the kernels run in workers of the ranks.
  const auto use = all.size() > 1 ? run::clients_use::describe : run::clients_use::run;
  // Opening a GPU takes seconds; meanwhile the CPU computes the first expected results.
  auto expected = std::make_unique<checks::expected_results>();
  if (use == run::clients_use::run && all.front().abi.kind == KZOO_CUDA)
    expected->begin(e.problems.front());
  run::plan plan = plan_on(std::move(e), all.front(), options, use);
  plan.expected_results = std::move(expected);
  // Simulated times mean nothing, so only verdicts remain.
  if (plan.experiment.overridden.tune && std::ranges::all_of(plan.plugins, is_simulated))
    plan.experiment.timing.enabled = false;
  for (const std::string& folder : options.plugin_folders)
    plan.invoked.plugin_folders.push_back(fs::absolute(folder).string());
  plan.invoked.in_process = options.in_process;
  plan.peaks = is_timed ? peaks_of(plan.device, resources_of(plan)) : known_peaks(plan.device);
  plan.devices = std::move(all);
  return plan;
}

// Whether the selector names a file, of the plugin with this name.
static bool is_file_of(const selector& s, const std::string& plugin) {
  const auto file = as_file(s.text);
  return file && fs::path(file->path).stem() == plugin;
}

// Tables show the name of a plugin that the experiment names by its file; --cell accepts it, too.
static selector selector_of_cell(const std::string& kernel, const std::vector<selector>& written) {
  const std::string plugin = kernel.substr(0, kernel.find(':'));
  const auto found =
      std::ranges::find_if(written, [&](const selector& s) { return is_file_of(s, plugin); });
  if (found == written.end()) return {kernel, {"--cell", 0, 0}};
  return {as_file(found->text)->path + kernel.substr(plugin.size()), found->where};
}

void select_cells(results::experiment& e, const std::vector<run::cell_name>& names) {
  if (names.empty()) return;
  const std::vector<selector> written = std::exchange(e.plugins, {});
  for (const auto& name : names) e.plugins.push_back(selector_of_cell(name.kernel, written));
  std::erase_if(e.spaces, [&](const auto& space) {
    return std::ranges::none_of(e.plugins,
                                [&](const selector& s) { return is_file_of(s, space.first); });
  });
}

run::plan plan_of_cells(results::experiment e, results::device device,
                        const common_options& options, std::vector<run::cell_name>& names) {
  select_cells(e, names);
  run::plan plan = plan_on(std::move(e), std::move(device), options, run::clients_use::describe);
  for (std::size_t i = 0; i < names.size(); ++i)
    names[i].kernel = plan.experiment.plugins.at(i).text;
  return plan;
}

run::plan plan_of_rank(const results::document& head, const std::string& device) {
  const results::experiment& planned = head.experiment;
  common_options options;
  options.plugin_folders = head.invoked.plugin_folders;
  return plan_on(experiment::load_text(planned.file, planned.text, planned.overridden),
                 devices::find(device), options, run::clients_use::run_later);
}

namespace {

// "race in shared memory, mine.cu:21 and mine.cu:18: threads 0 and 32 of block 0 (on …); …".
std::string words_of(const std::vector<xray::finding>& all, const problem& p) {
  const xray::finding& f = all.front();
  const std::string more = all.size() == 1 ? "" : fmt::format("; {} more", all.size() - 1);
  return fmt::format("{}, {}: {} (on {}); {}{}", f.what, f.places(), f.detail, problem_name(p),
                     f.advice, more);
}

results::finding finding_of(const std::vector<xray::launch>& launches, const problem& p) {
  std::vector<xray::finding> all;
  for (const xray::launch& l : launches)
    all.insert(all.end(), l.findings.begin(), l.findings.end());
  const std::string check(results::kAccesses);
  if (!all.empty()) return {check, results::outcome::fail, words_of(all, p), {}};
  return {check,
          results::outcome::pass,
          "no race and nothing uninitialised or out of bounds on " + problem_name(p),
          {}};
}

}  // namespace

run::find_access_analysis access_analyses(std::vector<std::string> build_args) {
  return [args = std::move(build_args)](const results::plugin_record& plugin) {
    constexpr double kMostSeconds = 5;
    if (!plugin.source.empty()) {
      return run::access_analysis([plugin, args](std::uint32_t variant, const problem& p) {
        const analysed_variant at = analysed_source(plugin, variant, args);
        return finding_of(xray::analyse({at.library.string(), at.variant, p, 0}, kMostSeconds), p);
      });
    }
    const fs::path library = xray::existing_build(plugin.file);
    if (library.empty()) return run::access_analysis();
    return run::access_analysis([library](std::uint32_t variant, const problem& p) {
      return finding_of(xray::analyse({library.string(), variant, p, 0}, kMostSeconds), p);
    });
  };
}

}  // namespace kzoo::setup
