#include "cli/command_line.hpp"

#include "cli/commands.hpp"
#include "core/version.hpp"
#include "devices/devices.hpp"
#include "experiment/experiment.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::cli {
namespace {

constexpr const char* kDescription =
    "Loads the GEMM kernel plugins that an experiment names, checks each against an fp64\n"
    "reference and all against each other, and compares their times.";

constexpr const char* kShowErrors =
    "A map of C for each result that is wrong, and the first elements that differ";

constexpr const char* kExitCodes =
    "Exit codes: 0 every cell passed or was declined, 1 some cell is wrong, crashed, hung or\n"
    "failed, 2 bad usage or experiment file, 3 the device asked for is not there.";

void add_common(CLI::App& app, common_options& o) {
  app.add_option("--plugin-dir", o.plugin_folders,
                 "A folder with plugins (.so), before the built-in ones; may be given again")
      ->type_name("DIR")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag("--in-process", o.in_process,
               "Load plugins into this process, for debuggers and profilers: a crash ends it");
}

void add_experiment(CLI::App& app, run_options& o) {
  add_common(app, o);
  app.add_option("FILE", o.file, "Experiment file; looked up under configs/ if it is not here")
      ->required();
  app.add_option("--device", o.device, "auto, cpu, cuda or cuda:N; default: as the file says")
      ->type_name("NAME");
  app.add_option("--plugins", o.plugins, "name, name:variant or globs, separated by commas")
      ->type_name("LIST")
      ->delimiter(',');
  app.add_option("--sizes", o.sizes, "N or MxNxK, separated by commas")
      ->type_name("LIST")
      ->delimiter(',');
  app.add_option("--verify", o.tier, "quick, full or paranoid: how much is checked")
      ->type_name("TIER");
}

// `runner FILE` means `runner run FILE`.
std::vector<std::string> with_default_command(int argc, char** argv, const CLI::App& app) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  const auto is_first = [&](std::string_view word) { return !words.empty() && words[0] == word; };
  constexpr std::array<std::string_view, 3> kOwn{"-h", "--help", "--version"};
  if (words.empty() || std::ranges::any_of(kOwn, is_first) ||
      std::ranges::any_of(commands, is_first, &CLI::App::get_name)) {
    return words;
  }
  words.insert(words.begin(), "run");
  return words;
}

}  // namespace

int command_line(int argc, char** argv) {
  CLI::App app(kDescription, "runner");
  app.set_version_flag("--version", std::string("kernel-zoo ") + kVersion);
  app.footer(kExitCodes);
  app.require_subcommand(1);

  run_options run_with, check_with;
  common_options list_with, describe_with;
  validate_options validate_with;
  std::string plugin;
  int code = kOk;

  CLI::App& run_app = *app.add_subcommand("run", "Run an experiment (`runner FILE` does too)");
  add_experiment(run_app, run_with);
  run_app.add_option("--json", run_with.json, "Write the results as JSON; - for stdout")
      ->type_name("FILE");
  run_app.add_flag("--quiet", run_with.quiet, "Only what did not pass, and the closing line");
  run_app.add_flag("--show-errors", run_with.show_errors, kShowErrors);
  run_app.footer(kExitCodes);
  run_app.callback([&] { code = run(run_with); });

  CLI::App& check_app = *app.add_subcommand("check", "Check an experiment file without running it");
  add_experiment(check_app, check_with);
  check_app.callback([&] { code = check(check_with); });

  CLI::App& validate_app =
      *app.add_subcommand("validate", "Every check on one plugin, a line for each");
  add_common(validate_app, validate_with);
  validate_app
      .add_option("PLUGIN", validate_with.plugin, "name, name:variant, or a library's file")
      ->required();
  validate_app.add_option("--tier", validate_with.tier, "quick, full or paranoid; default: full")
      ->type_name("TIER");
  validate_app.add_option("--device", validate_with.device, "cpu, cuda or cuda:N")
      ->type_name("NAME");
  validate_app.add_option("--size", validate_with.size, "The problem at hand: N or MxNxK")
      ->type_name("SIZE");
  validate_app.add_option("--dtype", validate_with.dtype, "One element type: f32, f16, bf16, i32")
      ->type_name("TYPE");
  validate_app
      .add_option("--timeout", validate_with.timeout_seconds,
                  "Seconds for one step, after which it counts as hung; default: 60")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber);
  validate_app.add_option("--json", validate_with.json, "Write the findings as JSON; - for stdout")
      ->type_name("FILE");
  validate_app.add_flag("--show-errors", validate_with.show_errors, kShowErrors);
  validate_app.footer("Exit codes: 0 no check failed, 1 some did, 2 bad usage, 3 no such device.");
  validate_app.callback([&] { code = validate(validate_with); });

  CLI::App& list_app = *app.add_subcommand("list", "The plugins that there are");
  add_common(list_app, list_with);
  list_app.callback([&] { code = list(list_with); });

  CLI::App& describe_app = *app.add_subcommand("describe", "All about one plugin");
  add_common(describe_app, describe_with);
  describe_app.add_option("PLUGIN", plugin, "Its name, as `runner list` gives it")->required();
  describe_app.callback([&] { code = describe(describe_with, plugin); });

  CLI::App& devices_app = *app.add_subcommand("devices", "The devices that there are");
  devices_app.callback([&] { code = devices(); });

  if (argc <= 1) {
    fmt::print("{}", app.help());
    return kBadInput;
  }
  try {
    std::vector<std::string> words = with_default_command(argc, argv, app);
    std::ranges::reverse(words);  // as CLI11 wants them
    app.parse(words);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    fmt::print(stderr, "error: {}\nTry `runner --help`.\n", e.what());
    return kBadInput;
  } catch (const experiment::invalid& e) {
    fmt::print(stderr, "{}\n", e.what());
    return kBadInput;
  } catch (const devices::absent& e) {
    fmt::print(stderr, "error: {}\n", e.what());
    return kNoSuchDevice;
  } catch (const std::invalid_argument& e) {
    fmt::print(stderr, "error: {}\n", e.what());
    return kBadInput;
  } catch (const std::exception& e) {
    fmt::print(stderr, "error: {}\n", e.what());
    return kSomeCellFailed;
  }
  return code;
}

}  // namespace kzoo::cli
