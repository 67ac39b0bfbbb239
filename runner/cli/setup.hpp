#pragma once
// Set-up that several subcommands share.

#include "cli/commands.hpp"
#include "results/experiment.hpp"
#include "run/plan.hpp"
#include "run/plugin_discovery.hpp"

namespace kzoo::cli {

run::plugin_discovery discover_plugins(const common_options& options);
run::host_factory hosts_for(const common_options& options, double timeout_seconds);
results::experiment load_experiment(const experiment_options& options);

}  // namespace kzoo::cli
