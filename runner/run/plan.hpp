#pragma once
// Who takes part: the experiment's selectors, resolved against the plugins that are there.

#include "devices/devices.hpp"
#include "host/plugin_host.hpp"
#include "results/document.hpp"
#include "results/experiment.hpp"
#include "run/plugin_discovery.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kzoo::run {

// A variant that takes part.
struct selected_variant {
  std::uint32_t index = 0;                   // in the plugin's table
  results::variant_description description;  // empty where the plugin could not be asked
};

// A plugin that takes part, with its worker.
struct loaded_plugin {
  results::plugin_record record;
  std::unique_ptr<host::plugin_host> host;  // null when there is nothing to run
  verdict obstacle{};                       // the verdict of every cell, when host is null
  std::vector<selected_variant> entries;    // in the plugin's order; an empty one if no host
};

// Memory that cannot be freed is nobody's verdict: the next prepare() starts a new worker.
void release(host::plugin_host& host);

struct plan {
  results::experiment experiment;
  results::device device;                // that it is planned for
  std::vector<loaded_plugin> plugins;    // in the order of the plugin list
  results::invocation invoked;           // for the record
  std::optional<roofline::peaks> peaks;  // of the device, where they are known
  std::vector<results::device> devices;  // all that it runs on, of one model

  std::size_t cells() const;
};

using host_factory =
    std::function<std::unique_ptr<host::plugin_host>(const std::filesystem::path& file)>;

// Loads every plugin that the experiment names, each through its host, and picks the variants.
// Throws experiment::invalid for a selector that names nothing, with the nearest name there is.
plan make_plan(results::experiment e, results::device d, const run::plugin_discovery& plugins,
               const host_factory& make_host);

// A library by its file, with all its variants, for whatever device it says.
loaded_plugin enter_file(const std::filesystem::path& file, const host_factory& make_host);

// Throws experiment::invalid, with the sum, when the largest problem does not fit in memory.
void check_memory(const plan& p);

}  // namespace kzoo::run
