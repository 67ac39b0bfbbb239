#pragma once
// What several subcommands do first.

#include "cli/commands.hpp"
#include "results/experiment.hpp"
#include "run/plan.hpp"
#include "run/plugin_discovery.hpp"

namespace kzoo::cli {

run::plugin_discovery open_catalogue(const common_options& options);
run::host_factory hosts_for(const common_options& options, double timeout_seconds);
results::experiment load_experiment(const experiment_options& options);

}  // namespace kzoo::cli
