#pragma once
// The plan of a run: the experiment's selectors, resolved against the plugins that were found.

#include "checks/result_judge.hpp"
#include "client/plugin_client.hpp"
#include "devices/devices.hpp"
#include "results/document.hpp"
#include "results/experiment.hpp"
#include "results/plugin.hpp"
#include "roofline/roofline.hpp"
#include "run/plugin_discovery.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kzoo::run {

struct selected_variant {
  std::uint32_t index = 0;                   // in the plugin's table
  results::variant_description description;  // empty if the plugin could not be loaded
  std::string obstacle{};                    // why it is in no library; "" if it is in one
};

// A selected plugin, with its worker.
struct loaded_plugin {
  results::plugin_record record;
  std::unique_ptr<client::plugin_client> client;  // null when the plugin cannot be used
  verdict obstacle{};                             // the verdict of every cell, when client is null
  std::vector<std::filesystem::path> shadowed;    // files of the same name that are not used
  // In the plugin's order; one empty variant if client is null.
  std::vector<selected_variant> variants;
};

// Analyses the memory accesses of a variant on one problem. The finding says what is wrong with
// them, or that nothing is. Throws if it cannot analyse them or build the plugin for it.
using access_analysis = std::function<results::finding(std::uint32_t variant, const problem&)>;
// Returns the analysis for a simulated plugin; empty if no build records its accesses.
using find_access_analysis = std::function<access_analysis(const results::plugin_record&)>;

struct plan {
  results::experiment experiment;
  results::device device;                            // the variants are selected for
  std::vector<loaded_plugin> plugins;                // in the order of the plugin list
  results::invocation invoked;                       // for the record
  std::optional<roofline::peaks> peaks;              // of the device, if they were measured
  std::vector<results::device> devices;              // all devices of the run; the same model
  run::find_access_analysis find_access_analysis{};  // for wrong kernels; may be empty
  // The results of the first problem may already be in computation.
  std::unique_ptr<checks::expected_results> expected_results =
      std::make_unique<checks::expected_results>();
  std::vector<std::filesystem::path> inputs{};  // files that the plan comes from; some may be ""
  bool trusts_baseline = false;  // skips a higher tier's checks for the baseline, still judging it

  std::size_t variants() const;  // of all plugins
  std::size_t cells() const { return variants() * experiment.problems.size(); }
};

using client_factory =
    std::function<std::unique_ptr<client::plugin_client>(const std::filesystem::path& file)>;

// The use of a plan's clients. run: kernels run in their workers, which open the device, all at
// once, before their plugins are loaded. run_later: the same, but each worker opens the device just
// before its first kernel runs: a driver opens one GPU of a host after the other. describe: plugins
// only list their variants.
enum class clients_use { run, run_later, describe };

// Loads every plugin that the experiment names, each through its client, and picks the variants.
// Throws input::invalid, with the nearest name, for a selector that matches nothing.
plan make_plan(results::experiment e, results::device d, const run::plugin_discovery& plugins,
               const client_factory& make_client, clients_use use = clients_use::run);

// The head of the plan's results: what is known before anything runs.
results::document head_of(const plan& p);
// A note on the first problem that takes the simulator long; "" if none does.
std::string long_simulation(const plan& p);
// Moves the finished cells of an interrupted run to `head`, the head of the run that resumes it.
// Throws input::invalid, naming `journal`, unless they are each problem's first cells in the plan.
void take_over(results::document& interrupted, const plan& p, results::document& head,
               const std::string& journal);

// Loads a library by its file, with all its variants, whatever device it is built for.
loaded_plugin enter_file(const std::filesystem::path& file, const client_factory& make_client);

}  // namespace kzoo::run
