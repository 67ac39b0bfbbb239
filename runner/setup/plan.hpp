#pragma once
// A run set up from a command line: its experiment, plugins, devices and peaks.

#include "results/experiment.hpp"
#include "run/choose_cells.hpp"
#include "run/plan.hpp"
#include "run/plugin_discovery.hpp"
#include "setup/options.hpp"

namespace kzoo::setup {

run::plugin_discovery discover_plugins(const common_options& options);
// Also compiles the files that the experiment names as plugins, and replaces them by names.
run::plugin_discovery discover_plugins(const common_options& options, results::experiment& e,
                                       const results::device& device);
run::client_factory clients_for(const common_options& options, double timeout_seconds);
// A kernel or plugin as stored with results: files by absolute paths, to be used in any folder.
std::string stored_name(const std::string& name);
// The command line's overrides of the file.
results::overrides overrides_of(const common_options& common, const experiment_options& options);
results::experiment load_experiment(const common_options& common,
                                    const experiment_options& options);
run::plan plan_on(results::experiment e, results::device device, const common_options& options,
                  run::clients_use use);
// Plans a run. Measures the peaks of a device that is timed for the first time.
run::plan plan_for(results::experiment e, const common_options& options);
// Selects only the cells' plugins; without names, keeps all plugins.
void select_cells(results::experiment& e, const std::vector<run::cell_name>& names);
// Plans all plugins of the experiment, or only those in `names`, where files become plugin names.
run::plan plan_of_cells(results::experiment e, results::device device,
                        const common_options& options, std::vector<run::cell_name>& names);

// The process of a rank, whose plan this makes from the head of the results: ranks/rank.hpp.
int rank();

}  // namespace kzoo::setup
