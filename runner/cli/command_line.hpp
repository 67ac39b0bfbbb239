#pragma once

namespace kzoo::cli {

// Reads the command line and does what it says. The exit code of the program.
int command_line(int argc, char** argv);

}  // namespace kzoo::cli
