#pragma once
// What several subcommands do first.

#include "catalogue/catalogue.hpp"
#include "cli/commands.hpp"
#include "experiment/experiment.hpp"
#include "run/plan.hpp"

namespace kzoo::cli {

catalogue::catalogue open_catalogue(const common_options& options);
run::host_factory hosts_for(const common_options& options, double timeout_seconds);
experiment::experiment load_experiment(const experiment_options& options);

}  // namespace kzoo::cli
