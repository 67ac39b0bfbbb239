#pragma once
// The subcommands as the command line has them: names, options, help.

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace kzoo::cli {

inline constexpr const char* kExitCodes =
    "Exit codes: 0 every cell passed or was declined, 1 some cell is wrong, crashed, hung, failed,\n"
    "has an impossible time or lost its device, or a library cannot be used, 2 bad usage or\n"
    "experiment file, 3 the device asked for is not there, 4 `compare` found a cell that is slower,\n"
    "fails or declines now, 5 the results could not be written (disk full, closed pipe),\n"
    "130 interrupted.";

// To parse is then to execute the subcommand that is named, and sets `code`. `after_dashes` is what
// stands after --, taken away before parsing. The runner's app keeps a reference to both.
void add_subcommands(CLI::App& runner, const std::vector<std::string>& after_dashes, int& code);

}  // namespace kzoo::cli
