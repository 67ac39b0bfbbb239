#include "cli/command_line.hpp"

#include "compile/source_plugin.hpp"
#include "core/version.hpp"
#include "devices/devices.hpp"
#include "input/diagnostics.hpp"
#include "os/files.hpp"
#include "os/output.hpp"
#include "os/posix.hpp"
#include "process/process_table.hpp"
#include "storage/journal.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace kzoo::cli {
namespace {

constexpr const char* kDescription =
    "Loads the GEMM kernel plugins that an experiment names, checks each against an fp64\n"
    "reference and all against each other, and compares their times.";

// Removes "--" and the words after it, and returns these words.
std::vector<std::string> taken_after_dashes(std::vector<std::string>& words) {
  const auto dashes = std::ranges::find(words, "--");
  if (dashes == words.end()) return {};
  std::vector<std::string> taken(dashes + 1, words.end());
  words.erase(dashes, words.end());
  return taken;
}

// `runner FILE` means `runner run FILE`.
std::vector<std::string> with_default_command(std::vector<std::string> words, const CLI::App& app) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  const auto is_first = [&](std::string_view word) { return !words.empty() && words[0] == word; };
  constexpr std::array<std::string_view, 3> kOwn{"-h", "--help", "--version"};
  if (words.empty() || std::ranges::any_of(kOwn, is_first) ||
      std::ranges::any_of(commands, is_first, &CLI::App::get_name)) {
    return words;
  }
  const auto is_command = [&](const std::string& word) {
    return std::ranges::count(commands, word, &CLI::App::get_name) > 0;
  };
  if (const auto later = std::ranges::find_if(words, is_command);
      words[0].starts_with('-') && later != words.end()) {
    input::refuse("",
                  "the command comes first, its options after it: runner {0} {1}; for an "
                  "experiment called {0}: runner run {1} …",
                  *later, words[0]);
  }
  words.insert(words.begin(), "run");
  return words;
}

void execute(CLI::App& app, std::vector<std::string> words, call& c) {
  words = with_default_command(std::move(words), app);
  if (words[0] == "profile") c.after_dashes = taken_after_dashes(words);
  std::ranges::reverse(words);  // as CLI11 wants them
  app.parse(words);
}

// Silent about errors, since the command itself will report them.
int print_needs_of(CLI::App& app, std::vector<std::string> words, call& c) try {
  c.asks_needs = true;
  words.erase(words.begin());
  execute(app, std::move(words), c);
  return kOk;
} catch (const std::exception&) {
  return kOk;
}

// Silent about errors, since a shell asks at each keystroke.
int print_completions(const CLI::App& app, const option_values& values, std::string_view line) try {
  for (const std::string& word : completions(app, values, line)) print_to(stdout, "{}\n", word);
  return kOk;
} catch (const std::exception&) {
  return kBadInput;
}

template <class Kind>
bool is(const std::exception& e) {
  return dynamic_cast<const Kind*>(&e) != nullptr;
}

}  // namespace

int exit_code_of(const std::exception& e) {
  const auto* const of_system = dynamic_cast<const std::system_error*>(&e);
  const bool is_full = of_system != nullptr && of_system->code() == std::errc::no_space_on_device;
  if (is<compile::does_not_compile>(e) || is<input::invalid>(e) || is<std::invalid_argument>(e))
    return kBadInput;
  if (is<devices::absent>(e)) return kNoSuchDevice;
  return is_full || is<storage::not_stored>(e) || is<not_written>(e) ? kNotWritten
                                                                     : kSomeCellFailed;
}

int command_line(int argc, char** argv) {
  constexpr std::size_t kFewestFiles = 64;
  if (const std::size_t limit = process::raise_descriptor_limit(); limit < kFewestFiles) {
    print_to(stderr,
             "error: this system allows {} open files, and the runner needs {} or more; raise the "
             "limit (ulimit -Hn)\n",
             limit, kFewestFiles);
    return kBadInput;
  }
  CLI::App app(kDescription, program_invocation_name);
  app.set_version_flag("--version", std::string("kernel-zoo ") + kVersion);
  app.require_subcommand(1);
  call c;
  add_subcommands(app, c);

  if (std::error_code fault; !std::filesystem::exists("/proc/self/exe", fault)) {
    print_to(stderr,
             "error: /proc is not there, by which the runner finds its own files and its workers: "
             "mount -t proc proc /proc\n");
    return kBadInput;
  }
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 2 && words[0] == kCompleteCommand)
    return print_completions(app, c.values, words[1]);
  if (words.empty()) {
    print_to(stdout, "{}", app.help());
    return kBadInput;
  }
  if (words.size() > 1 && words[0] == "needs" && words[1] != "-h" && words[1] != "--help")
    return print_needs_of(app, words, c);
  try {
    execute(app, words, c);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    print_to(stderr, "error: {}\nTry `{} --help`.\n", e.what(), program_invocation_name);
    return kBadInput;
  } catch (const interrupt::interrupted&) {
    return kSignalled + interrupt::signal_number();
  } catch (const std::exception& e) {
    const bool has_place = is<compile::does_not_compile>(e) || is<input::invalid>(e);
    print_to(stderr, "{}{}\n", has_place ? "" : "error: ", e.what());
    return exit_code_of(e);
  }
  return c.code;
}

}  // namespace kzoo::cli
