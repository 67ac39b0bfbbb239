#pragma once
// What a run is set up from: plugins and an experiment, as a command line names them.

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

}  // namespace kzoo::setup
