#pragma once
// Plugins and an experiment, as a command line names them.

#include "results/experiment.hpp"

#include <string>
#include <vector>

namespace kzoo::setup {

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

// A kernel or plugin as stored with results: files by absolute paths, to be used in any folder.
std::string stored_name(const std::string& name);
// The command line's overrides of the file.
results::overrides overrides_of(const common_options& common, const experiment_options& options);
results::experiment load_experiment(const common_options& common,
                                    const experiment_options& options);

}  // namespace kzoo::setup
