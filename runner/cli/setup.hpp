#pragma once
// Set-up that several subcommands share.

#include "cli/commands.hpp"
#include "results/experiment.hpp"
#include "run/choose_cells.hpp"
#include "run/plan.hpp"
#include "run/plugin_discovery.hpp"

namespace kzoo::cli {

run::plugin_discovery discover_plugins(const common_options& options);
// With those that the experiment names by their files, compiled for the device; the experiment
// names them by their names then.
run::plugin_discovery discover_plugins(const common_options& options, results::experiment& e,
                                       const results::device& device);
run::client_factory clients_for(const common_options& options, double timeout_seconds);
// A kernel or plugin as stored with results, which may be repeated from another folder: files by
// their absolute paths.
std::string stored_name(const std::string& name);
// What the command line sets instead of the file.
results::overrides overrides_of(const common_options& common, const experiment_options& options);
results::experiment load_experiment(const common_options& common,
                                    const experiment_options& options);
// Of the experiment on the device.
run::plan plan_on(results::experiment e, results::device device, const common_options& options,
                  run::clients_use use);
// What a run of the experiment does. Measures the peaks of a device that is timed for the first
// time.
run::plan plan_for(results::experiment e, const common_options& options);
// Leaves the experiment the plugins of the cells alone; without names all that it has.
void select_cells(results::experiment& e, const std::vector<run::cell_name>& names);
// The plan of the experiment's plugins, or only of those that `names` mention; a name by a file
// gets the plugin's name.
run::plan plan_of_cells(results::experiment e, results::device device,
                        const common_options& options, std::vector<run::cell_name>& names);

}  // namespace kzoo::cli
