#include "cli/subcommands.hpp"

#include "cli/commands.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

namespace kzoo::cli {
namespace {

// A new subcommand, and what its command line is read into.
template <class Options>
struct subcommand {
  CLI::App& app;
  Options& options;
};

template <class Options>
subcommand<Options> add(CLI::App& runner, const char* name, const char* summary,
                        int (*execute)(const Options&), int& code) {
  CLI::App& app = *runner.add_subcommand(name, summary);
  const auto options = std::make_shared<Options>();  // the callback keeps it alive
  app.callback([options, execute, &code] { code = execute(*options); });
  return {app, *options};
}

// Options that several subcommands have.

void add_plugin_folders(CLI::App& app, common_options& o) {
  app.add_option("--plugin-dir", o.plugin_folders,
                 "A folder with plugins (.so), before the built-in ones; may be given again")
      ->type_name("DIR")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_common(CLI::App& app, common_options& o) {
  add_plugin_folders(app, o);
  app.add_flag("--in-process", o.in_process,
               "Load plugins into this process, for debuggers and profilers: a crash ends it");
}

CLI::Option* add_experiment(CLI::App& app, experiment_options& o) {
  auto* file =
      app.add_option("FILE", o.file, "Experiment file; looked up under configs/ if it is not here");
  app.add_option("--device", o.device,
                 "auto, cpu, cuda, cuda:N or cuda:all; default: as the file says")
      ->type_name("NAME");
  app.add_option("--plugins", o.plugins, "name, name:variant or globs, separated by commas")
      ->type_name("LIST")
      ->delimiter(',');
  app.add_option("--sizes", o.sizes, "N or MxNxK, separated by commas")
      ->type_name("LIST")
      ->delimiter(',');
  return file;
}

void add_tier(CLI::App& app, experiment_options& o) {
  app.add_option("--verify", o.tier, "quick, full or paranoid: how much is checked")
      ->type_name("TIER");
}

void add_show_errors(CLI::App& app, bool& show_errors) {
  app.add_flag("--show-errors", show_errors,
               "A map of C for each result that is wrong, and the first elements that differ");
}

void add_output(CLI::App& app, output_options& o) {
  app.add_option("--json", o.json, "Write the results as JSON; - for stdout")->type_name("FILE");
  app.add_option("--csv", o.csv, "A line for each cell; likewise")->type_name("FILE");
  app.add_option("--md", o.markdown, "The tables as Markdown; likewise")->type_name("FILE");
  auto* journal =
      app.add_option(
             "--journal", o.journal,
             "Where results are stored, problem by problem; default: results/DATE_NAME.jsonl")
          ->type_name("FILE");
  app.add_flag("--no-journal", o.no_journal, "Store nothing on the way")->excludes(journal);
  app.add_flag("--quiet", o.quiet, "Only what failed, and the closing line");
  add_show_errors(app, o.show_errors);
}

// The subcommands.

void add_run(CLI::App& runner, int& code) {
  auto [app, o] = add(runner, "run", "Run an experiment (`runner FILE` does too)", run, code);
  add_common(app, o);
  auto* file = add_experiment(app, o);
  add_tier(app, o);
  add_output(app, o);
  auto* resume =
      app.add_option(
             "--resume", o.resume,
             "Go on with an interrupted run: a journal, or the newest; FILE may be left out")
          ->type_name("[JOURNAL]")
          ->expected(0, 1)
          ->default_str("")
          ->excludes("--journal")
          ->excludes("--no-journal");
  app.footer(kExitCodes);
  app.parse_complete_callback([file, resume] {
    if (file->count() == 0 && resume->count() == 0) throw CLI::RequiredError("FILE");
  });
}

void add_rerun(CLI::App& runner, int& code) {
  auto [app, o] = add(runner, "rerun", "Run again what stored results are of", rerun, code);
  app.add_option("RESULT", o.file, "A journal, or what --json wrote")->required();
  add_common(app, o);
  add_output(app, o);
}

void add_report(CLI::App& runner, int& code) {
  auto [app, o] = add(runner, "report", "The tables of stored results", report, code);
  app.add_option("RESULT", o.file, "A journal, or what --json wrote")->required();
  auto* format = app.add_option_group("format");
  format->add_flag("--md", o.markdown, "As Markdown, for a page on GitHub");
  format->add_flag("--csv", o.csv, "A line for each cell");
  format->add_flag("--json", o.json, "All there is");
  format->require_option(0, 1);
}

void add_compare(CLI::App& runner, int& code) {
  auto [app, o] =
      add(runner, "compare", "Two stored results, or the kernels of one", compare, code);
  app.add_option("RESULT", o.files,
                 "Journals, or what --json wrote: OLD NEW, or one with --baseline")
      ->required()
      ->expected(1, 2);
  app.add_option("--threshold", o.threshold, "Changes below it are none")
      ->type_name("PERCENT")
      ->capture_default_str();
  app.add_option("--baseline", o.baseline, "Rank one result beside this kernel")->type_name("NAME");
  app.add_flag("--force", o.force, "Also of different devices or toolkits");
  app.add_flag("--md", o.markdown, "As Markdown");
  app.footer(kExitCodes);
}

void add_check(CLI::App& runner, int& code) {
  auto [app, o] =
      add(runner, "check", "Check an experiment file without running it, and show its description",
          check, code);
  add_common(app, o);
  add_experiment(app, o)->required();
  add_tier(app, o);
}

void add_validate(CLI::App& runner, int& code) {
  auto [app, o] =
      add(runner, "validate", "Every check on one plugin, a line for each", validate, code);
  add_common(app, o);
  app.add_option("PLUGIN", o.plugin, "name, name:variant, or a library's file")->required();
  app.add_option("--tier", o.tier, "quick, full or paranoid; default: full")->type_name("TIER");
  app.add_option("--device", o.device, "cpu, cuda or cuda:N")->type_name("NAME");
  app.add_option("--size", o.size, "The problem at hand: N or MxNxK")->type_name("SIZE");
  app.add_option("--dtype", o.dtype, "One element type: f32, f16, bf16, i32")->type_name("TYPE");
  app.add_option("--timeout", o.timeout_seconds,
                 "Seconds for one step, after which it counts as hung; default: 60")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber);
  app.add_option("--json", o.json, "Write the findings as JSON; - for stdout")->type_name("FILE");
  add_show_errors(app, o.show_errors);
  app.footer("Exit codes: 0 no check failed, 1 some did, 2 bad usage, 3 no such device.");
}

void add_profile(CLI::App& runner, const std::vector<std::string>& after_dashes, int& code) {
  auto [app, o] = add(runner, "profile",
                      "What Nsight Compute counts while cells of an experiment run", profile, code);
  add_plugin_folders(app, o);
  add_experiment(app, o)->required();
  app.add_option("--cell", o.cells,
                 "plugin:variant@MxNxK, one or several, separated by commas; default: all kernels "
                 "of the first problem, up to 16")
      ->type_name("LIST")
      ->delimiter(',')
      ->excludes("--plugins");
  app.add_option("--ncu", o.ncu, "Nsight Compute's program, if it is not where it usually is")
      ->type_name("PROGRAM");
  app.add_option("--json", o.json, "Write the counters as JSON; - for stdout")->type_name("FILE");
  app.add_option("--md", o.markdown, "The tables as Markdown; likewise")->type_name("FILE");
  app.footer(
      "What stands after -- goes to ncu as it is, for example: -- --set full -o report\n"
      "Exit codes: 0 all were profiled, 1 some were not, 2 bad usage, 3 no such device.");
  app.parse_complete_callback([&after_dashes, &told = o.ncu_arguments] { told = after_dashes; });
}

void add_list(CLI::App& runner, int& code) {
  auto [app, o] = add(runner, "list", "The plugins that there are", list, code);
  add_common(app, o);
}

void add_describe(CLI::App& runner, int& code) {
  auto [app, o] = add(runner, "describe", "All about one plugin", describe, code);
  add_common(app, o);
  app.add_option("PLUGIN", o.plugin, "Its name, as `runner list` gives it")->required();
}

void add_devices(CLI::App& runner, int& code) {
  auto [app, o] = add(runner, "devices", "The devices that there are", devices, code);
  app.add_flag("--measure", o.measure,
               "Measure how fast each is, ten seconds a device, and keep it: what results "
               "are held against");
  app.add_option("--device", o.device, "This one only: cpu, cuda or cuda:N")->type_name("NAME");
  app.add_flag("--json", o.json, "All there is, every sample of it");
}

}  // namespace

void add_subcommands(CLI::App& runner, const std::vector<std::string>& after_dashes, int& code) {
  add_run(runner, code);
  add_rerun(runner, code);
  add_report(runner, code);
  add_compare(runner, code);
  add_check(runner, code);
  add_validate(runner, code);
  add_profile(runner, after_dashes, code);
  add_list(runner, code);
  add_describe(runner, code);
  add_devices(runner, code);
}

}  // namespace kzoo::cli
