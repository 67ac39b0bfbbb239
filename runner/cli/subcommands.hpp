#pragma once
// The subcommands with their names, options and help.

#include "cli/exit_codes.hpp"

#include <map>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace kzoo::cli {

// All values of options that take only these, in the words of the help.
using option_values = std::map<const CLI::Option*, std::vector<std::string>>;

// The words of a command line that are not options, and its exit code.
struct call {
  std::vector<std::string> after_dashes;  // removed before parsing
  bool asks_needs = false;                // print them instead of running the command (needs_of())
  int code = kOk;
  option_values values;
};

// Parsing then runs the named subcommand. The runner's app keeps a reference to the call.
void add_subcommands(CLI::App& runner, call& c);

}  // namespace kzoo::cli
