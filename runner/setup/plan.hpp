#pragma once
// A plan from a command line, which names plugins and an experiment: plugins found and compiled,
// devices, peaks.

#include "devices/devices.hpp"
#include "results/experiment.hpp"
#include "run/choose_cells.hpp"
#include "run/plan.hpp"

#include <string>
#include <vector>

namespace kzoo::setup {

// How plugins are found, compiled and loaded.
struct common_options {
  std::vector<std::string> plugin_folders;  // --plugin-dir, searched before the built-in folders
  std::vector<std::string> build_args;      // compiler options
  bool in_process = false;
};

// An experiment file, and the command line's replacements, whose paths are relative to the working
// folder.
struct experiment_options {
  std::string file;
  results::overrides over;
};

// A kernel or plugin as stored with results: files by absolute paths, to be used in any folder.
std::string stored_name(const std::string& name);
// The command line's overrides of the file.
results::overrides overrides_of(const common_options& common, const experiment_options& options);
results::experiment load_experiment(const common_options& common,
                                    const experiment_options& options);

run::plugin_discovery discover_plugins(const common_options& options);
// Finds the experiment's plugins. Compiles files that it names as plugins, and replaces them by
// names.
run::plugin_discovery discover_plugins(const common_options& options, results::experiment& e,
                                       const results::device& device);
run::client_factory clients_for(const common_options& options, double timeout_seconds);
run::plan plan_on(results::experiment e, results::device device, const common_options& options,
                  run::clients_use use);
// Plans a run. Measures the peaks of a device that is timed for the first time.
run::plan plan_for(results::experiment e, const common_options& options);
// Selects only the cells' plugins; without names, keeps all plugins.
void select_cells(results::experiment& e, const std::vector<run::cell_name>& names);
// Plans all plugins of the experiment, or only those in `names`, where files become plugin names.
run::plan plan_of_cells(results::experiment e, results::device device,
                        const common_options& options, std::vector<run::cell_name>& names);

// Plans the part of a rank (ranks/dispatch.hpp) from the head of the results.
run::plan plan_of_rank(const results::document& head, const std::string& device);

// The analysis of xray, for the judge of wrong kernels. Compiles a source's analysed build, with
// these options. Other plugins need an existing build.
run::find_access_analysis access_analyses(std::vector<std::string> build_args);

}  // namespace kzoo::setup
