#pragma once
// The command line: subcommands with their names, options and help.

#include "cli/commands.hpp"
#include "results/experiment.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace kzoo::cli {

// Parses the command line and runs the subcommand. Returns the program's exit code.
int command_line(int argc, char** argv);

// The words of a command line that are not options, and its exit code.
struct call {
  std::vector<std::string> after_dashes;  // removed before parsing
  bool asks_needs = false;                // print them instead of running the command (needs_of())
  int code = kOk;
};

// Parsing then runs the named subcommand. The runner's app keeps a reference to the call.
void add_subcommands(CLI::App& runner, call& c);

// Shell completion: scripts/completion offers the output of `runner --complete LINE`.
inline constexpr std::string_view kCompleteCommand = "--complete";

// Completions of the last word of the line, which ends at the cursor. Empty if any file fits.
std::vector<std::string> completions(const CLI::App& runner, std::string_view line);

// `runner needs`: what another command needs built, for scripts that build it first, such as ./zoo.

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
