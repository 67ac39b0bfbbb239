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

// Parses the command line and runs the subcommand. Returns the exit code of the program.
int command_line(int argc, char** argv);

inline constexpr const char* kExitCodes =
    "Exit codes: 0 some cell passed, and the others did or were declined, 1 some cell is wrong,\n"
    "crashed, hung, failed, has an impossible time or lost its device, a library cannot be used, or\n"
    "every cell was declined, or every one of a source, 2 bad usage or experiment file, 3 the device\n"
    "asked for is not there, 4 `compare` found a cell that is slower, fails or declines now, 5 the\n"
    "results could not be written (disk full, closed pipe), 130 interrupted.";

// A command line besides its options, and what comes of it.
struct call {
  std::vector<std::string> after_dashes;  // what stood after --, taken away before parsing
  bool asks_needs = false;  // they are printed, and nothing is carried out (cli/needs.hpp)
  int code = kOk;
};

// To parse is then to execute the subcommand that is named. The runner's app keeps a reference to
// the call.
void add_subcommands(CLI::App& runner, call& c);

// Completion in shells: scripts/completion asks `runner --complete LINE`, and offers what is
// printed.
inline constexpr std::string_view kCompleteCommand = "--complete";

// What the last word of the line, which ends at the cursor, may become; empty where that is any
// file. Commands and options are those of the app.
std::vector<std::string> completions(const CLI::App& runner, std::string_view line);

}  // namespace kzoo::cli
