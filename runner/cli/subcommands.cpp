// The subcommands with their names, options and help.

#include "cli/commands.hpp"
#include "os/assets.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kzoo::cli {
namespace {

// The end of a command's help.
std::string footer_of(const std::string& name) {
  std::string text = filled("help/" + name, {});
  text.pop_back();
  return text;
}

using help_words = std::map<std::string, std::string>;

// "a, b or c".
std::string alternatives(const std::vector<std::string>& all) {
  return fmt::format("{} or {}", fmt::join(all.begin(), all.end() - 1, ", "), all.back());
}

// Takes the values out of a help with "{a b c}". None if it has no braces.
std::vector<std::string> take_values(std::string& help) {
  const std::size_t begin = help.find('{'), end = help.find('}');
  if (begin == std::string::npos) return {};
  std::istringstream words(help.substr(begin + 1, end - begin - 1));
  std::vector<std::string> all{std::istream_iterator<std::string>(words), {}};
  help.replace(begin, end + 1 - begin, alternatives(all));
  return all;
}

// Sets help, values and their type from "TYPE | HELP" by "COMMAND OPTION".
void explain(CLI::App& app, const std::string& command, const help_words& words,
             option_values& values) {
  for (CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    const std::string name = option->get_name(false, true);
    if (name == "-h,--help") continue;
    const auto own = words.find(command + ' ' + name);
    const std::string& line = own != words.end() ? own->second : words.at("any " + name);
    const std::size_t end = line.find("| ");
    std::string help = line.substr(end + 2);
    if (auto all = take_values(help); !all.empty()) values[option] = std::move(all);
    option->description(help);
    if (end > 0) option->type_name(line.substr(0, end - 1));
  }
  for (CLI::App* group : app.get_subcommands([](const CLI::App*) { return true; }))
    explain(*group, command, words, values);
}

// An option or a flag. An empty value of an optional text counts as none.
template <class T>
CLI::Option* add(CLI::App& app, const char* name, T& out) {
  if constexpr (std::is_same_v<T, bool>)
    return app.add_flag(name, out);
  else if constexpr (std::is_same_v<T, std::optional<std::string>>)
    return app.add_option_function<std::string>(name, [&out](const std::string& given) {
      if (!given.empty()) out = given;
    });
  else
    return app.add_option(name, out);
}

void add_words(CLI::App& app, const char* name, std::vector<std::string>& words) {
  add(app, name, words)->allow_extra_args(false)->delimiter(',');
}

void add_build_args(CLI::App& app, std::vector<std::string>& build_args) {
  add(app, "--build-args", build_args)->expected(1)->delimiter(' ');
}

void add_plugin_folders(CLI::App& app, common_options& o) {
  add(app, "--plugin-dir", o.plugin_folders)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_build_args(app, o.build_args);
}

void add_common(CLI::App& app, common_options& o) {
  add_plugin_folders(app, o);
  add(app, "--in-process", o.in_process);
}

// Returns FILE.
CLI::Option* add_experiment(CLI::App& app, experiment_options& o, const char* name = "FILE") {
  CLI::Option* const file = add(app, name, o.file);
  add(app, "--device", o.over.device);
  add_words(app, "--plugins", o.over.plugins);
  add_words(app, "--sizes", o.over.sizes);
  add_words(app, "--layouts", o.over.layouts);
  add_words(app, "--batches", o.over.batches);
  add_words(app, "--problems", o.over.problems);
  return file;
}

// The simulator of each worker reads the setting.
void add_schedule(CLI::App& app) {
  app.add_option_function<std::uint64_t>("--schedule", [](std::uint64_t seed) {
    setenv("KZOO_SIM_SCHEDULE", std::to_string(seed).c_str(), 1);
  });
}

void add_tier(CLI::App& app, experiment_options& o) { add(app, "--verify", o.over.tier); }

void add_cells(CLI::App& app, std::vector<std::string>& cells) {
  add(app, "--cell", cells)->delimiter(',')->excludes("--plugins");
}

void add_shown(CLI::App& app, report::shown_options& shown) {
  add(app, "--wide", shown.wide);
  const std::map<std::string, report::sort_key> keys{{"speedup", report::sort_key::speedup},
                                                     {"time", report::sort_key::time},
                                                     {"name", report::sort_key::name}};
  add(app, "--sort", shown.sort)->transform(CLI::CheckedTransformer(keys).description(""));
  add(app, "--simulator-times", shown.simulator_times);
}

void add_output(CLI::App& app, output_options& o) {
  add(app, "--json", o.json);
  add(app, "--csv", o.csv);
  add(app, "--md", o.markdown);
  add(app, "--junit", o.junit);
  CLI::Option* const journal = add(app, "--journal", o.journal);
  add(app, "--no-journal", o.no_journal)->excludes(journal);
  add(app, "--quiet", o.quiet);
  add_shown(app, o.shown);
  add(app, "--show-errors", o.show_errors);
}

// A new subcommand, and the options that its command line is read into.
template <class Options>
struct subcommand {
  CLI::App& app;
  Options& options;
};

template <class Options>
subcommand<Options> begin(CLI::App& runner, const char* name, int (*execute)(const Options&),
                          call& c) {
  CLI::App& app = *runner.add_subcommand(name);
  app.footer(footer_of(name));
  const auto options = std::make_shared<Options>();  // the callback keeps it alive
  app.callback([options, execute, &c] {
    if (c.asks_needs)
      print_needs(needs_of(*options));
    else
      c.code = execute(*options);
  });
  return {app, *options};
}

int run_what_is_named(const run_options& o) {
  if (o.file.empty() && !o.resume) throw CLI::RequiredError("FILE");
  return run(o);
}

void add_resume(CLI::App& app, run_options& o) {
  CLI::Option* const resume = app.add_option("--resume", o.resume)
                                  ->expected(0, 1)
                                  ->default_str("")
                                  ->excludes("--journal")
                                  ->excludes("--no-journal");
  add(app, "--trust-folders", o.trust_folders)->needs(resume);
  add(app, "--or-resume", o.or_resume)->needs("--journal")->excludes(resume);
}

void add_run(CLI::App& runner, call& c) {
  auto [app, o] = begin(runner, "run", run_what_is_named, c);
  add_common(app, o);
  add_experiment(app, o);
  add_tier(app, o);
  add_schedule(app);
  add_output(app, o);
  add_resume(app, o);
}

int tune_what_is_named(const tune_options& o) {
  if (o.file.empty() && !o.resume) throw CLI::RequiredError("SOURCE_OR_FILE");
  return tune(o);
}

void add_tune(CLI::App& runner, call& c) {
  auto [app, o] = begin(runner, "tune", tune_what_is_named, c);
  add_common(app, o);
  add_experiment(app, o, "SOURCE_OR_FILE");
  add_tier(app, o);
  add(app, "--baseline", o.over.baseline);
  add_words(app, "--allow", o.over.allow);
  add(app, "--budget", o.budget);
  add(app, "--sample", o.over.sample)->check(CLI::PositiveNumber);
  add_output(app, o);
  add_resume(app, o);
}

void add_rerun(CLI::App& runner, call& c) {
  auto [app, o] = begin(runner, "rerun", rerun, c);
  add(app, "RESULT", o.file)->required();
  add_common(app, o);
  add(app, "--trust-folders", o.trust_folders);
  add_output(app, o);
}

void add_report(CLI::App& runner, call& c) {
  auto [app, o] = begin(runner, "report", report, c);
  add(app, "RESULT", o.files)->required();
  CLI::App* const formats = app.add_option_group("format");
  const auto add_format = [formats, &as = o.as](const char* flag, format f) {
    formats->add_flag_callback(flag, [&as, f] { as = f; });
  };
  add_format("--md", format::markdown);
  add_format("--csv", format::csv);
  add_format("--json", format::json);
  add_format("--junit", format::junit);
  add(*formats, "--html", o.html);
  add(*formats, "--svg", o.svg);
  formats->require_option(0, 1);
  add_shown(app, o.shown);
}

void add_compare(CLI::App& runner, call& c) {
  auto [app, o] = begin(runner, "compare", compare, c);
  add(app, "RESULT", o.files)->required()->expected(1, 2);
  add(app, "--threshold", o.threshold)->capture_default_str();
  add(app, "--baseline", o.baseline);
  add(app, "--force", o.force);
  add(app, "--md", o.markdown);
}

void add_check(CLI::App& runner, call& c) {
  auto [app, o] = begin(runner, "check", check, c);
  add_common(app, o);
  add_experiment(app, o)->required();
  add_tier(app, o);
}

void add_validate(CLI::App& runner, call& c) {
  auto [app, o] = begin(runner, "validate", validate, c);
  add_common(app, o);
  add(app, "PLUGIN", o.plugin)->required();
  add(app, "--tier", o.tier);
  add_schedule(app);
  add(app, "--device", o.device);
  add(app, "--size", o.size);
  add(app, "--dtype", o.dtype);
  add(app, "--layout", o.layout);
  add(app, "--epilogue", o.epilogue);
  add(app, "--batch", o.batch);
  add_words(app, "--scale-blocks", o.scale_blocks);
  add(app, "--groups", o.groups);
  add(app, "--timeout", o.timeout_seconds);
  add(app, "--json", o.json);
  add(app, "--show-errors", o.show_errors);
}

void add_judge(CLI::App& runner, call& c) {
  auto [app, o] = begin(runner, "judge", judge, c);
  add_common(app, o);
  add(app, "FILE", o.files)->required();
  add(app, "--problems", o.problems);
  add(app, "--baseline", o.baseline);
  add(app, "--device", o.device);
  add(app, "--verify", o.tier);
  add(app, "--json", o.json);
  add(app, "--explain", o.explain);
  add(app, "--device-code-only", o.device_code_only);
  add(app, "--compile-only", o.compile_only);
  add(app, "-o,--out", o.compiled.out);
  add_words(app, "--arch", o.compiled.architectures);
}

void add_profile(CLI::App& runner, call& c) {
  auto [app, o] = begin(runner, "profile", profile, c);
  add_plugin_folders(app, o);
  add_experiment(app, o)->required();
  add_cells(app, o.cells);
  add(app, "--ncu", o.ncu);
  add(app, "--json", o.json);
  add(app, "--md", o.markdown);
  app.parse_complete_callback([&c, &told = o.ncu_arguments] { told = c.after_dashes; });
}

void add_xray(CLI::App& runner, call& c) {
  auto [app, o] = begin(runner, "xray", xray, c);
  add_plugin_folders(app, o);
  add_experiment(app, o)->required();
  add_cells(app, o.cells);
  add(app, "--blocks", o.blocks)->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
  add(app, "--lines", o.lines);
  add(app, "--json", o.json);
  add(app, "--md", o.markdown);
  add(app, "--html", o.html);
}

void add_list(CLI::App& runner, call& c) {
  auto [app, o] = begin(runner, "list", list, c);
  add_common(app, o);
  add(app, "PLUGIN", o.plugins);
}

void add_describe(CLI::App& runner, call& c) {
  auto [app, o] = begin(runner, "describe", describe, c);
  add_common(app, o);
  add(app, "PLUGIN", o.plugin)->required();
}

void add_compile(CLI::App& runner, call& c) {
  auto [app, o] = begin(runner, "compile", compile_files, c);
  add(app, "FILE", o.files)->required();
  add_words(app, "--arch", o.architectures);
  add(app, "-o,--out", o.out);
  add(app, "--device", o.device);
  add_build_args(app, o.build_args);
}

void add_new(CLI::App& runner, call& c) {
  auto [app, o] = begin(runner, "new", make_new, c);
  add(app, "NAME", o.name)->required();
  add(app, "--from", o.from);
  add(app, "--out", o.out);
}

void add_export(CLI::App& runner, call& c) {
  auto [app, o] = begin(runner, "export", export_kernels, c);
  add(app, "FILE", o.file)->required();
  add(app, "--out", o.out)->required();
  add(app, "--fallback", o.fallback);
}

void add_watch(CLI::App& runner, call& c) {
  auto [app, o] = begin(runner, "watch", watch, c);
  o.file = "quick";
  add(app, "SOURCE", o.source)->required();
  add_common(app, o);
  add_experiment(app, o);
  add_tier(app, o);
}

void add_devices(CLI::App& runner, call& c) {
  auto [app, o] = begin(runner, "devices", devices, c);
  add(app, "--measure", o.measure);
  add(app, "--device", o.device);
  add(app, "--json", o.json);
}

void add_merge(CLI::App& runner, call& c) {
  auto [app, o] = begin(runner, "merge", merge, c);
  add(app, "DIR", o.folder)->required();
  add(app, "--by-device", o.by_device);
  add_shown(app, o.shown);
}

// Only for its help: the words after `needs` are parsed as a command line of their own.
void add_needs(CLI::App& runner) {
  CLI::App& app = *runner.add_subcommand("needs");
  app.footer(footer_of("needs"));
  app.add_option("COMMAND")->required();
  app.group("For scripts");
}

}  // namespace

void add_subcommands(CLI::App& runner, call& c) {
  add_run(runner, c);
  add_tune(runner, c);
  add_rerun(runner, c);
  add_report(runner, c);
  add_compare(runner, c);
  add_check(runner, c);
  add_validate(runner, c);
  add_judge(runner, c);
  add_profile(runner, c);
  add_xray(runner, c);
  add_list(runner, c);
  add_describe(runner, c);
  add_compile(runner, c);
  add_new(runner, c);
  add_export(runner, c);
  add_watch(runner, c);
  add_devices(runner, c);
  add_merge(runner, c);
  add_needs(runner);
  const text_table lines = asset_table("help/options");
  const help_words words(lines.begin(), lines.end());
  for (CLI::App* command : runner.get_subcommands([](const CLI::App*) { return true; })) {
    command->description(words.at(command->get_name()).substr(2));
    explain(*command, command->get_name(), words, c.values);
  }
  runner.footer(footer_of("exit_codes"));  // which subcommands would inherit
}

}  // namespace kzoo::cli
