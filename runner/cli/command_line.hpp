#pragma once
// The program's command line: its exit codes, its subcommands with names, options and help, and
// the completion of what is typed.

#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace kzoo::cli {

// Documented in the README; scripts rely on them.
inline constexpr int kOk = 0;
inline constexpr int kSomeCellFailed = 1;
inline constexpr int kBadInput = 2;  // usage, experiment file
inline constexpr int kNoSuchDevice = 3;
inline constexpr int kRegression = 4;
inline constexpr int kNotWritten = 5;   // disk full, closed pipe
inline constexpr int kSignalled = 128;  // plus the signal's number, as in a shell
int exit_code_of(const std::exception& fault);

// Parses the command line and runs the subcommand. Returns the program's exit code.
int command_line(int argc, char** argv);

// The allowed values of options that take no others, as in the help.
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

// Shell completion: scripts/completion offers the output of `runner --complete LINE`.
inline constexpr std::string_view kCompleteCommand = "--complete";
// Completions of the last word of the line, which ends at the cursor. Empty if any file fits.
std::vector<std::string> completions(const CLI::App& runner, const option_values& values,
                                     std::string_view line);

}  // namespace kzoo::cli
