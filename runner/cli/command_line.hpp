#pragma once
// The command line: subcommands with their names, options and help.

#include "cli/commands.hpp"

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
  bool asks_needs = false;  // print them instead of running the command (cli/needs.hpp)
  int code = kOk;
};

// Parsing then runs the named subcommand. The runner's app keeps a reference to the call.
void add_subcommands(CLI::App& runner, call& c);

// Shell completion: scripts/completion offers the output of `runner --complete LINE`.
inline constexpr std::string_view kCompleteCommand = "--complete";

// Completions of the last word of the line, which ends at the cursor. Empty if any file fits.
std::vector<std::string> completions(const CLI::App& runner, std::string_view line);

}  // namespace kzoo::cli
