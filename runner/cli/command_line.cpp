#include "cli/command_line.hpp"

#include "cli/commands.hpp"
#include "core/version.hpp"
#include "devices/devices.hpp"
#include "results/experiment.hpp"

#include "input/invalid.hpp"

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
    "For each wrong result a map of C, and the first elements that differ";

constexpr const char* kExitCodes =
    "Exit codes: 0 every cell passed or was declined, 1 some cell is wrong, crashed, hung, failed,\n"
    "has an impossible time or lost its device, or a library cannot be used, 2 bad usage or\n"
    "experiment file, 3 the device asked for is not there, 4 `compare` found a regression,\n"
    "130 interrupted.";

void add_plugin_folders(CLI::App& app, common_options& o) {
  app.add_option("--plugin-dir", o.plugin_folders,
                 "A folder with plugins (.so), searched before the built-in ones; repeatable")
      ->type_name("DIR")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_common(CLI::App& app, common_options& o) {
  add_plugin_folders(app, o);
  app.add_flag("--in-process", o.in_process,
               "Load plugins into this process, for debuggers and profilers; a crash ends it");
}

CLI::Option* add_experiment(CLI::App& app, experiment_options& o) {
  auto* file = app.add_option("FILE", o.file, "Experiment file; also looked up under configs/");
  app.add_option("--device", o.device, "auto, cpu, cuda, cuda:N or cuda:all; default: the file's")
      ->type_name("NAME");
  app.add_option("--plugins", o.plugins, "Names, name:variant or globs, separated by commas")
      ->type_name("LIST")
      ->delimiter(',');
  app.add_option("--sizes", o.sizes, "N or MxNxK, separated by commas")
      ->type_name("LIST")
      ->delimiter(',');
  return file;
}

void add_tier(CLI::App& app, experiment_options& o) {
  app.add_option("--verify", o.tier, "How much is checked: quick, full or paranoid")
      ->type_name("TIER");
}

void add_output(CLI::App& app, output_options& o) {
  app.add_option("--json", o.json, "Write the results as JSON; - for stdout")->type_name("FILE");
  app.add_option("--csv", o.csv, "Write one line per cell as CSV; - for stdout")->type_name("FILE");
  app.add_option("--md", o.markdown, "Write the tables as Markdown; - for stdout")
      ->type_name("FILE");
  auto* journal =
      app.add_option("--journal", o.journal,
                     "Where finished cells are stored at once; default: results/DATE_NAME.jsonl")
          ->type_name("FILE");
  app.add_flag("--no-journal", o.no_journal, "Do not store finished cells")->excludes(journal);
  app.add_flag("--quiet", o.quiet, "Print only failures and the closing line");
  app.add_flag("--show-errors", o.show_errors, kShowErrors);
}

void add_run(CLI::App& app, run_options& o) {
  add_common(app, o);
  auto* file = add_experiment(app, o);
  add_tier(app, o);
  add_output(app, o);
  app.add_option("--resume", o.resume,
                 "Continue an interrupted run: its journal, default the newest; needs no FILE")
      ->type_name("[JOURNAL]")
      ->expected(0, 1)
      ->default_str("")
      ->excludes("--journal")
      ->excludes("--no-journal");
  app.footer(kExitCodes);
  app.parse_complete_callback([file, &o] {
    if (file->count() == 0 && !o.resume) throw CLI::RequiredError("FILE");
  });
}

void add_profile(CLI::App& app, profile_options& o) {
  add_plugin_folders(app, o);
  add_experiment(app, o)->required();
  app.add_option("--cell", o.cells,
                 "plugin:variant@MxNxK, separated by commas; default: all kernels "
                 "of the first problem, up to 16")
      ->type_name("LIST")
      ->delimiter(',')
      ->excludes("--plugins");
  app.add_option("--ncu", o.ncu, "Path of Nsight Compute's ncu, if it is not found")
      ->type_name("PROGRAM");
  app.add_option("--json", o.json, "Write the counters as JSON; - for stdout")->type_name("FILE");
  app.add_option("--md", o.markdown, "Write the tables as Markdown; - for stdout")
      ->type_name("FILE");
  app.footer(
      "Arguments after -- are passed to ncu unchanged, for example: -- --set full -o report\n"
      "Exit codes: 0 all cells were profiled, 1 some were not, 2 bad usage, 3 no such device.");
}

// Removes the words from -- on, and returns those after it.
std::vector<std::string> taken_after_dashes(std::vector<std::string>& words) {
  const auto dashes = std::ranges::find(words, "--");
  if (dashes == words.end()) return {};
  std::vector<std::string> taken(dashes + 1, words.end());
  words.erase(dashes, words.end());
  return taken;
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
  report_options report_with;
  rerun_options rerun_with;
  compare_options compare_with;
  validate_options validate_with;
  devices_options devices_with;
  profile_options profile_with;
  std::string plugin;
  int code = kOk;

  CLI::App& run_app = *app.add_subcommand("run", "Run an experiment (`runner FILE` does too)");
  add_run(run_app, run_with);
  run_app.callback([&] { code = run(run_with); });

  CLI::App& rerun_app = *app.add_subcommand("rerun", "Repeat the run of stored results");
  rerun_app.add_option("RESULT", rerun_with.file, "A journal, or what --json wrote")->required();
  add_common(rerun_app, rerun_with);
  add_output(rerun_app, rerun_with);
  rerun_app.callback([&] { code = rerun(rerun_with); });

  CLI::App& report_app = *app.add_subcommand("report", "Show the tables of stored results");
  report_app.add_option("RESULT", report_with.file, "A journal, or what --json wrote")->required();
  auto* as_other = report_app.add_option_group("format");
  as_other->add_flag("--md", report_with.markdown, "As Markdown for GitHub");
  as_other->add_flag("--csv", report_with.csv, "As CSV, one line per cell");
  as_other->add_flag("--json", report_with.json, "As JSON, complete");
  as_other->require_option(0, 1);
  report_app.callback([&] { code = report(report_with); });

  CLI::App& compare_app =
      *app.add_subcommand("compare", "Compare two stored results, or the kernels of one");
  compare_app
      .add_option("RESULT", compare_with.files,
                  "Journals, or what --json wrote: OLD NEW, or one with --baseline")
      ->required()
      ->expected(1, 2);
  compare_app.add_option("--threshold", compare_with.threshold, "Smaller changes do not count")
      ->type_name("PERCENT")
      ->capture_default_str();
  compare_app
      .add_option("--baseline", compare_with.baseline,
                  "Rank the kernels of one result against this one")
      ->type_name("NAME");
  compare_app.add_flag("--force", compare_with.force,
                       "Compare even different devices or CUDA runtimes");
  compare_app.add_flag("--md", compare_with.markdown, "As Markdown");
  compare_app.footer(kExitCodes);
  compare_app.callback([&] { code = compare(compare_with); });

  CLI::App& check_app = *app.add_subcommand(
      "check", "Check an experiment file without running it, and show its description");
  add_common(check_app, check_with);
  add_experiment(check_app, check_with)->required();
  add_tier(check_app, check_with);
  check_app.callback([&] { code = check(check_with); });

  CLI::App& validate_app =
      *app.add_subcommand("validate", "Run all checks on one plugin, with a line for each");
  add_common(validate_app, validate_with);
  validate_app
      .add_option("PLUGIN", validate_with.plugin, "name, name:variant, or the file of a library")
      ->required();
  validate_app.add_option("--tier", validate_with.tier, "quick, full or paranoid; default: full")
      ->type_name("TIER");
  validate_app.add_option("--device", validate_with.device, "cpu, cuda or cuda:N")
      ->type_name("NAME");
  validate_app
      .add_option("--size", validate_with.size,
                  "Size of the problem for the checks that use one: N or MxNxK")
      ->type_name("SIZE");
  validate_app
      .add_option("--dtype", validate_with.dtype, "Only this element type: f32, f16, bf16 or i32")
      ->type_name("TYPE");
  validate_app
      .add_option("--timeout", validate_with.timeout_seconds,
                  "Seconds after which one step counts as hung; default: 60")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber);
  validate_app.add_option("--json", validate_with.json, "Write the findings as JSON; - for stdout")
      ->type_name("FILE");
  validate_app.add_flag("--show-errors", validate_with.show_errors, kShowErrors);
  validate_app.footer("Exit codes: 0 no check failed, 1 some did, 2 bad usage, 3 no such device.");
  validate_app.callback([&] { code = validate(validate_with); });

  CLI::App& profile_app =
      *app.add_subcommand("profile", "Profile cells of an experiment with Nsight Compute");
  add_profile(profile_app, profile_with);
  profile_app.callback([&] { code = profile(profile_with); });

  CLI::App& list_app = *app.add_subcommand("list", "List the plugins");
  add_common(list_app, list_with);
  list_app.callback([&] { code = list(list_with); });

  CLI::App& describe_app = *app.add_subcommand("describe", "Describe one plugin and its variants");
  add_common(describe_app, describe_with);
  describe_app.add_option("PLUGIN", plugin, "Its name, as `runner list` gives it")->required();
  describe_app.callback([&] { code = describe(describe_with, plugin); });

  CLI::App& devices_app = *app.add_subcommand("devices", "List the devices");
  devices_app.add_flag(
      "--measure", devices_with.measure,
      "Measure the peaks of each device, ten seconds each, and store them for later "
      "runs");
  devices_app.add_option("--device", devices_with.device, "Only this device: cpu, cuda or cuda:N")
      ->type_name("NAME");
  devices_app.add_flag("--json", devices_with.json, "As JSON, with every sample");
  devices_app.callback([&] { code = devices(devices_with); });

  if (argc <= 1) {
    fmt::print("{}", app.help());
    return kBadInput;
  }
  try {
    std::vector<std::string> words = with_default_command(argc, argv, app);
    if (words[0] == "profile") profile_with.ncu_arguments = taken_after_dashes(words);
    std::ranges::reverse(words);  // as CLI11 wants them
    app.parse(words);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    fmt::print(stderr, "error: {}\nTry `runner --help`.\n", e.what());
    return kBadInput;
  } catch (const input::invalid& e) {
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
