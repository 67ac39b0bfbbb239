#pragma once
// `runner needs`: what another command needs built, for scripts that build it first, such as ./zoo.

#include "cli/commands.hpp"
#include "results/experiment.hpp"

#include <string>
#include <vector>

namespace kzoo::cli {

struct needs {
  std::vector<std::string> devices;  // by name; more than one: any of them
  std::vector<selector> plugins;
  bool experiment = false;  // the file of one: the command names none
  bool charts = false;      // the charting library
};

// What the options of a command come to. Nothing is loaded or measured, and no GPU is asked. Throws
// where the command itself would refuse them.
needs needs_of(const run_options& o);  // of check, too
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
needs needs_of(const submit_options& o);
needs needs_of(const report_options& o);
inline needs needs_of(const auto& /*of another command*/) { return {}; }

// A line for each, as the help of `needs` has them.
void print_needs(const needs& n);

}  // namespace kzoo::cli
