// The hidden subcommand that a run on several devices starts for each of them.

#include "cli/setup.hpp"
#include "devices/devices.hpp"
#include "experiment/load.hpp"
#include "shards/shard.hpp"

namespace kzoo::cli {

int shard() {
  return shards::shard_main([](const results::document& head, const std::string& device) {
    const results::experiment& planned = head.experiment;
    results::experiment e = experiment::load_text(planned.file, planned.text, planned.overridden);
    common_options options;
    options.plugin_folders = head.invoked.plugin_folders;
    const double timeout = e.verify.timeout_seconds;
    results::device found = devices::find(device);
    const run::plugin_discovery plugins = discover_plugins(options, e, found);
    return run::make_plan(std::move(e), std::move(found), plugins, clients_for(options, timeout));
  });
}

}  // namespace kzoo::cli
