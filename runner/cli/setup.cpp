#include "cli/setup.hpp"
#include "core/output.hpp"
#include "experiment/find_file.hpp"
#include "experiment/load.hpp"

#include "host/plugin_host.hpp"

#include "input/invalid.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace kzoo::cli {

run::plugin_discovery discover_plugins(const common_options& options) {
  run::plugin_discovery plugins;
  for (const std::string& folder : options.plugin_folders) plugins.add_folder(folder, true);
  for (const auto& folder : plugin_folders()) plugins.add_folder(folder, false);
  for (const std::string& words : plugins.warnings()) print_to(stderr, "warning: {}\n", words);
  return plugins;
}

run::host_factory hosts_for(const common_options& options, double timeout_seconds) {
  if (options.in_process) return host::make_local_host;
  return [timeout_seconds](const std::filesystem::path& file) {
    return host::make_process_host(file, timeout_seconds);
  };
}

results::overrides overrides_of(const experiment_options& options) {
  results::overrides over;
  if (!options.device.empty()) over.device = options.device;
  if (!options.tier.empty()) over.tier = options.tier;
  over.plugins = options.plugins;
  over.sizes = options.sizes;
  over.layouts = options.layouts;
  over.batches = options.batches;
  return over;
}

results::experiment load_experiment(const experiment_options& options) {
  return experiment::load(experiment::find_file(options.file, config_path()),
                          overrides_of(options));
}

}  // namespace kzoo::cli
