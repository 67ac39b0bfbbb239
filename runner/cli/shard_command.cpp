// The hidden subcommand that a run on several GPUs starts for each of them.

#include "cli/setup.hpp"
#include "devices/devices.hpp"
#include "experiment/load.hpp"
#include "shards/shard.hpp"

namespace kzoo::cli {

int shard() {
  return shards::shard_main([](const results::document& head, const std::string& device) {
    const results::experiment& told = head.experiment;
    results::experiment e = experiment::load_text(told.file, told.text, told.overridden);
    common_options options;
    options.plugin_folders = head.invoked.plugin_folders;
    const double timeout = e.verify.timeout_seconds;
    return run::make_plan(std::move(e), devices::find(device), open_catalogue(options),
                          hosts_for(options, timeout));
  });
}

}  // namespace kzoo::cli
