#pragma once
// `runner needs`: what another command needs built, for scripts that build it first, such as ./zoo.

#include "cli/options.hpp"
#include "core/kernel_name.hpp"

#include <string>
#include <vector>

namespace kzoo::cli {

struct needs {
  std::vector<std::string> devices;  // by name; several: any of them
  std::vector<selector> plugins;
  bool experiment = false;  // an experiment file, which the command does not name
  bool charts = false;      // the charting library
};

// The needs of a command. Loads and measures nothing, asks no GPU. Throws where the command would.
needs needs_of(const run_options& o);  // also for check
needs needs_of(const tune_options& o);
needs needs_of(const rerun_options& o);
needs needs_of(const validate_options& o);
needs needs_of(const profile_options& o);
needs needs_of(const xray_options& o);
needs needs_of(const judge_options& o);
needs needs_of(const list_options& o);
needs needs_of(const describe_options& o);
needs needs_of(const compile_options& o);
needs needs_of(const watch_options& o);
needs needs_of(const report_options& o);
inline needs needs_of(const auto& /*of another command*/) { return {}; }

// Prints them line by line, as the help of `needs` describes.
void print_needs(const needs& n);

}  // namespace kzoo::cli
