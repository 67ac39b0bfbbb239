#pragma once
// Who takes part: the experiment's selectors, resolved against the plugins that are there.

#include "catalogue/catalogue.hpp"
#include "devices/devices.hpp"
#include "experiment/experiment.hpp"
#include "results/results.hpp"
#include "workers/plugin_host.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kzoo::run {

// A variant that takes part.
struct entry {
  std::uint32_t index = 0;                   // in the plugin's table
  workers::variant_description description;  // empty where the plugin could not be asked
};

// A plugin that takes part, with its worker.
struct contestant {
  results::plugin_record record;
  std::unique_ptr<workers::plugin_host> host;  // null when there is nothing to run
  verdict obstacle{};                          // the verdict of every cell, when host is null
  std::vector<entry> entries;                  // in the plugin's order; an empty one if no host
};

// Memory that cannot be freed is nobody's verdict: the next prepare() starts a new worker.
void release(workers::plugin_host& host);

struct plan {
  experiment::experiment experiment;
  devices::device device;                      // that it is planned for
  std::vector<contestant> contestants;         // in the order of the plugin list
  results::invocation invoked;                 // for the record
  std::optional<roofline::ceilings> ceilings;  // of the device, where they are known
  std::vector<devices::device> devices;        // all that it runs on, of one model

  std::size_t cells() const;
};

using host_factory =
    std::function<std::unique_ptr<workers::plugin_host>(const std::filesystem::path& file)>;

// Loads every plugin that the experiment names, each through its host, and picks the variants.
// Throws experiment::invalid for a selector that names nothing, with the nearest name there is.
plan make_plan(experiment::experiment e, devices::device d, const catalogue::catalogue& plugins,
               const host_factory& make_host);

// A library by its file, with all its variants, for whatever device it says.
contestant enter_file(const std::filesystem::path& file, const host_factory& make_host);

// Throws experiment::invalid, with the sum, when the largest problem does not fit in memory.
void check_memory(const plan& p);

}  // namespace kzoo::run
