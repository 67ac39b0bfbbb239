#pragma once

namespace kzoo::cli {

// Parses the command line and runs the subcommand. Returns the program's exit code.
int command_line(int argc, char** argv);

}  // namespace kzoo::cli
