#pragma once
// The plan of a run: the experiment's selectors, resolved against the plugins that were found.

#include "checks/result_judge.hpp"
#include "client/plugin_client.hpp"
#include "devices/devices.hpp"
#include "experiment/names.hpp"
#include "results/document.hpp"
#include "results/experiment.hpp"
#include "results/plugin.hpp"

#include <kzoo/abi.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kzoo::run {

// Finds plugin files by name, without loading them.
//
//   FOLDER/cuda/naive.so   the cuda build of `naive`
//   FOLDER/cpu/naive.so    its cpu build
//   FOLDER/mine.so         `mine`, for the device that it declares when it is loaded
//   FOLDER/names.txt       a line for each plugin of the tree: its name, and the devices for which
//                          it can be built here

struct plugin_file {
  std::string name;  // the file's name without .so: what users type
  std::filesystem::path file;
  kzoo_device_kind kind{};         // from its folder; 0 if the folder does not say
  std::filesystem::path source{};  // its source file; empty: unknown
  results::tuned_builds tuned{};
  bool host_code = true;               // whether its author wrote host code
  std::vector<std::string> missing{};  // headers that the source includes, and was compiled without
};

class plugin_discovery {
 public:
  // Earlier folders take precedence. A missing folder is an error (input::invalid) if `required`.
  void add_folder(const std::filesystem::path& folder, bool required);

  // Takes precedence over files with the same name in the folders.
  void add_file(plugin_file file);

  const std::vector<plugin_file>& files() const { return files_; }
  const std::vector<std::filesystem::path>& folders() const { return folders_; }
  // A warning for each folder that other users can write to: its libraries would run as this user.
  const std::vector<std::string>& warnings() const { return warnings_; }
  // All names, each once: plugins of this tree in the ladder's order, then others, sorted.
  std::vector<std::string> names() const;
  // A plugin of the tree without a library.
  struct missing_build {
    std::string name;
    kzoo_device_kind kind{};  // 0: it cannot be built here
  };
  std::vector<missing_build> not_built() const;
  // The files that may be builds for the device, in order of precedence.
  std::vector<plugin_file> find(const std::string& name, kzoo_device_kind kind) const;

 private:
  void check_permissions(const std::filesystem::path& folder);
  void add_files(const std::filesystem::path& folder, kzoo_device_kind kind);

  std::vector<std::filesystem::path> folders_;
  std::vector<plugin_file> files_;
  std::vector<std::string> warnings_;
  // From names.txt.
  struct known_plugin {
    std::string name, devices;
  };
  std::vector<known_plugin> known_;
};

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
// once, before their plugins are loaded. describe: plugins only list their variants.
enum class clients_use { run, describe };

// Loads every plugin that the experiment names, each through its client, and picks the variants.
// Throws input::invalid, with the nearest name, for a selector that matches nothing.
plan make_plan(results::experiment e, results::device d, const run::plugin_discovery& plugins,
               const client_factory& make_client, clients_use use = clients_use::run);

// Loads a library by its file, with all its variants, whatever device it is built for.
loaded_plugin enter_file(const std::filesystem::path& file, const client_factory& make_client);

// Selects cells of an experiment, for profile and xray.

// A cell's name: plugin:variant@MxNxK. The variant is optional if the plugin has only one. Without
// a size, the name means the experiment's first problem.
struct cell_name {
  std::string text;
  std::string kernel;                       // plugin, or plugin:variant
  std::optional<experiment::extents> size;  // after the @
};

// Throws input::invalid for a malformed name.
std::vector<cell_name> parse_cells(const std::vector<std::string>& names);

struct chosen_cell {
  const loaded_plugin* plugin;
  const selected_variant* variant;
  const problem* at;
};

// Returns the named cells of the plan, in the order of the names. Without names: up to 16 cells of
// its first problem. Throws input::invalid, with the nearest name, for a cell that does not exist.
std::vector<chosen_cell> choose(const plan& plan, const std::vector<cell_name>& names);

}  // namespace kzoo::run
