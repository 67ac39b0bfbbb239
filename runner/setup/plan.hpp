#pragma once
// A run set up from a command line: its experiment, plugins, devices and peaks.

#include "devices/devices.hpp"
#include "devices/nvml.hpp"
#include "results/experiment.hpp"
#include "roofline/roofline.hpp"
#include "run/plan.hpp"

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kzoo::setup {

// Plugins and an experiment, as a command line names them.

// How plugins are found, compiled and loaded.
struct common_options {
  std::vector<std::string> plugin_folders;  // --plugin-dir, searched before the built-in folders
  std::vector<std::string> build_args;      // compiler options
  bool in_process = false;
};

// An experiment file, and the command line's replacements, whose paths are relative to the working
// folder.
struct experiment_options {
  std::string file;
  results::overrides over;
};

run::plugin_discovery discover_plugins(const common_options& options);
// Also compiles the files that the experiment names as plugins, and replaces them by names.
run::plugin_discovery discover_plugins(const common_options& options, results::experiment& e,
                                       const results::device& device);
run::client_factory clients_for(const common_options& options, double timeout_seconds);
// A kernel or plugin as stored with results: files by absolute paths, to be used in any folder.
std::string stored_name(const std::string& name);
// The command line's overrides of the file.
results::overrides overrides_of(const common_options& common, const experiment_options& options);
results::experiment load_experiment(const common_options& common,
                                    const experiment_options& options);
run::plan plan_on(results::experiment e, results::device device, const common_options& options,
                  run::clients_use use);
// Plans a run. Measures the peaks of a device that is timed for the first time.
run::plan plan_for(results::experiment e, const common_options& options);
// Selects only the cells' plugins; without names, keeps all plugins.
void select_cells(results::experiment& e, const std::vector<run::cell_name>& names);
// Plans all plugins of the experiment, or only those in `names`, where files become plugin names.
run::plan plan_of_cells(results::experiment e, results::device device,
                        const common_options& options, std::vector<run::cell_name>& names);

// The process of a rank, whose plan this makes from the head of the results: ranks/dispatch.hpp.
int rank();

// The analysis of xray, for the judge of wrong kernels.

// Compiles a source's analysed build, with these options. Other plugins need an existing build.
run::find_access_analysis access_analyses(std::vector<std::string> build_args);

// Measurements of this machine's devices: stored peaks, and whether clocks are locked.

// In $KZOO_PEAKS, else $XDG_CACHE_HOME/kernel-zoo/peaks, else ~/.cache/kernel-zoo/peaks; "" if none
// is set. The name contains the device's and a digest of the facts that peaks depend on.
std::filesystem::path peaks_file(const results::device& d);

// Nothing if they were not measured. Throws input::invalid if the file holds no peaks.
std::optional<roofline::peaks> known_peaks(const results::device& d);

// Measures all peaks of the device, reporting each on stderr, and stores them. Throws
// input::invalid without a place for them, not_written, devices::failure.
roofline::peaks measure_peaks(const results::device& d);

// known_peaks(). On a GPU, also measures unknown peaks of `needed`, replaces exceeded peaks, and
// stores both. Discards peaks measured on a busy GPU: valid times would look impossible.
std::optional<roofline::peaks> peaks_of(const results::device& d,
                                        const std::set<roofline::resource>& needed);

// Whether clocks are locked; the runner itself locks none. Keeps a GPU busy for half a second,
// unless it is in use.
devices::clock_lock measure_clock_lock(const results::device& d);
// Adds the fact "clocks" to the device. Throws devices::absent unless they are locked.
void require_locked_clocks(results::device& d);

}  // namespace kzoo::setup
