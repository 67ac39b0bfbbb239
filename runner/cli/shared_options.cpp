#include "cli/shared_options.hpp"

#include <cstdint>
#include <cstdlib>
#include <map>

namespace kzoo::cli {

void add_file(CLI::App& app, const char* flag, std::string& name, const char* help) {
  add_value(app, flag, name, "FILE", help);
}

void add_words(CLI::App& app, const char* flag, std::vector<std::string>& words, const char* help) {
  add_value(app, flag, words, "LIST", help)->allow_extra_args(false)->delimiter(',');
}

void add_build_args(CLI::App& app, std::vector<std::string>& build_args) {
  add_value(app, "--build-args", build_args, "ARGS",
            "Options of the compiler, separated by spaces, for plugins named by a source")
      ->expected(1)
      ->delimiter(' ');
}

void add_plugin_folders(CLI::App& app, common_options& o) {
  add_value(app, "--plugin-dir", o.plugin_folders, "DIR",
            "A folder with plugins (.so), searched before the built-in ones; repeatable")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_build_args(app, o.build_args);
}

void add_common(CLI::App& app, common_options& o) {
  add_plugin_folders(app, o);
  app.add_flag("--in-process", o.in_process,
               "Load plugins into this process, for debuggers and profilers; a crash ends it");
}

CLI::Option* add_experiment(CLI::App& app, experiment_options& o, const char* name,
                            const char* help) {
  auto* file = app.add_option(name, o.file, help);
  add_value(app, "--device", o.over.device, "NAME",
            "auto, cpu, cuda, cuda:N or cuda:all; default: the file's");
  add_words(app, "--plugins", o.over.plugins,
            "Names, name:variant, globs, or files such as ./mine.cu, separated by commas");
  add_words(app, "--sizes", o.over.sizes, "N or MxNxK, separated by commas");
  add_words(app, "--layouts", o.over.layouts, "nn, nt, tn or tt, separated by commas");
  add_words(app, "--batches", o.over.batches,
            "Numbers of products in a batch, separated by commas");
  add_words(app, "--problems", o.over.problems,
            "Only these problems of all that there would be, numbered from 0: 3,7,12-15");
  return file;
}

void add_schedule(CLI::App& app) {
  app.add_option_function<std::uint64_t>(
         "--schedule",
         [](std::uint64_t seed) { setenv("KZOO_SIM_SCHEDULE", std::to_string(seed).c_str(), 1); },
         "Run simulated threads in an order of their own; 0: the usual one")
      ->type_name("SEED");
}

void add_tier(CLI::App& app, experiment_options& o) {
  add_value(app, "--verify", o.over.tier, "TIER", "How much is checked: quick, full or paranoid");
}

void add_cells(CLI::App& app, std::vector<std::string>& cells) {
  add_value(app, "--cell", cells, "LIST",
            "plugin:variant@MxNxK, separated by commas; default: all kernels "
            "of the first problem, up to 16")
      ->delimiter(',')
      ->excludes("--plugins");
}

void add_show_errors(CLI::App& app, bool& show_errors) {
  app.add_flag("--show-errors", show_errors,
               "For each wrong result a map of C, and the first elements that differ");
}

void add_shown(CLI::App& app, report::shown_options& shown) {
  app.add_flag("--wide", shown.wide,
               "Tables with all columns and variants, however small the terminal is");
  const std::map<std::string, report::sort_key> keys{{"speedup", report::sort_key::speedup},
                                                     {"time", report::sort_key::time},
                                                     {"name", report::sort_key::name}};
  add_value(app, "--sort", shown.sort, "KEY",
            "Order of the kernels of a problem: speedup, time or name")
      ->transform(CLI::CheckedTransformer(keys).description(""));
  app.add_flag("--simulator-times", shown.simulator_times,
               "How long simulations took, too; it says nothing about a GPU");
}

void add_output(CLI::App& app, output_options& o) {
  add_file(app, "--json", o.json, "Write the results as JSON; - for stdout");
  add_file(app, "--csv", o.csv, "Write one line per cell as CSV; - for stdout");
  add_file(app, "--md", o.markdown, "Write the tables as Markdown; - for stdout");
  add_file(app, "--junit", o.junit, "Write the verdicts as JUnit XML, for CI; - for stdout");
  auto* journal = add_value(
      app, "--journal", o.journal, "FILE",
      "Where finished cells are stored at once; default: results/DATE_EXPERIMENT_DEVICE.jsonl");
  app.add_flag("--no-journal", o.no_journal, "Do not store finished cells")->excludes(journal);
  app.add_flag("--quiet", o.quiet, "Print only failures and the closing line");
  add_shown(app, o.shown);
  add_show_errors(app, o.show_errors);
}

CLI::Option* add_trust_folders(CLI::App& app, bool& trust) {
  return app.add_flag("--trust-folders", trust,
                      "Load plugins from the folders that the stored run names");
}

}  // namespace kzoo::cli
