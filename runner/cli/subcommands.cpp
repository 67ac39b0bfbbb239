#include "cli/command_line.hpp"

#include "cli/needs.hpp"
#include "cli/shared_options.hpp"
#include "os/assets.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace kzoo::cli {
namespace {

// The end of a command's help.
std::string footer_of(const std::string& name) {
  std::string text = filled("help/" + name, {});
  text.pop_back();
  return text;
}

// A new subcommand, and the options that its command line is read into.
template <class Options>
struct subcommand {
  CLI::App& app;
  Options& options;
};

template <class Options>
subcommand<Options> add(CLI::App& runner, const char* name, const char* summary,
                        int (*execute)(const Options&), call& c) {
  CLI::App& app = *runner.add_subcommand(name, summary);
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
  auto* resume =
      app.add_option("--resume", o.resume,
                     "Continue an interrupted run: its journal, default the newest; needs no FILE")
          ->type_name("[JOURNAL]")
          ->expected(0, 1)
          ->default_str("")
          ->excludes("--journal")
          ->excludes("--no-journal");
  add_trust_folders(app, o.trust_folders)->needs(resume);
  app.add_flag("--or-resume", o.or_resume,
               "Continue --journal if it is there, once no other run writes it: for batch jobs")
      ->needs("--journal")
      ->excludes(resume);
}

void add_run(CLI::App& runner, call& c) {
  auto [app, o] =
      add(runner, "run", "Run an experiment (`runner FILE` does too)", run_what_is_named, c);
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
  auto [app, o] = add(runner, "tune", "Find the fastest variant of a kernel for each problem",
                      tune_what_is_named, c);
  add_common(app, o);
  add_experiment(app, o, "SOURCE_OR_FILE",
                 "A source such as mine.cu, with --sizes, or an experiment file");
  add_tier(app, o);
  add_value(app, "--baseline", o.over.baseline, "NAME",
            "The kernel to compare with; default: the file's");
  add_words(
      app, "--allow", o.over.allow,
      "Precisions that results may be computed in, beside that of their matrices and what the "
      "file allows: tf32, bf16, ...");
  add_value(app, "--budget", o.budget, "TIME",
            "Time for judging and timing, such as 60s, 5m or 1h; default: until all is decided");
  add_value(app, "--sample", o.over.sample, "N",
            "Compile only so many configurations of each space, drawn at random; the same ones "
            "each time")
      ->check(CLI::PositiveNumber);
  add_output(app, o);
  add_resume(app, o);
}

void add_rerun(CLI::App& runner, call& c) {
  auto [app, o] = add(runner, "rerun", "Repeat the run of stored results", rerun, c);
  app.add_option("RESULT", o.file, "A journal, or what --json wrote")->required();
  add_common(app, o);
  add_trust_folders(app, o.trust_folders);
  add_output(app, o);
}

void add_report(CLI::App& runner, call& c) {
  auto [app, o] = add(runner, "report", "Show the tables of stored results", report, c);
  app.add_option("RESULT", o.files, "A journal, or what --json wrote; several with --html or --svg")
      ->required();
  auto* const formats = app.add_option_group("format");
  const auto add_format = [formats, &as = o.as](const char* flag, format f, const char* help) {
    formats->add_flag_callback(
        flag, [&as, f] { as = f; }, help);
  };
  add_format("--md", format::markdown, "As Markdown for GitHub");
  add_format("--csv", format::csv, "As CSV, one line per cell");
  add_format("--json", format::json, "As JSON, complete");
  add_format("--junit", format::junit, "The verdicts as JUnit XML");
  add_value(*formats, "--html", o.html, "FILE",
            "Write one page with charts and tables, which opens without a network; - for "
            "stdout");
  add_value(*formats, "--svg", o.svg, "DIR",
            "Write the main charts as SVG files, for light and for dark pages");
  formats->require_option(0, 1);
  add_shown(app, o.shown);
}

void add_compare(CLI::App& runner, call& c) {
  auto [app, o] =
      add(runner, "compare", "Compare two stored results, or the kernels of one", compare, c);
  app.add_option("RESULT", o.files,
                 "Journals, or what --json wrote: OLD NEW, or one with --baseline")
      ->required()
      ->expected(1, 2);
  add_value(app, "--threshold", o.threshold, "PERCENT", "Smaller changes do not count")
      ->capture_default_str();
  add_value(app, "--baseline", o.baseline, "NAME",
            "Rank the kernels of one result against this one");
  app.add_flag("--force", o.force, "Compare even different devices or CUDA runtimes");
  app.add_flag("--md", o.markdown, "As Markdown");
}

void add_check(CLI::App& runner, call& c) {
  auto [app, o] =
      add(runner, "check", "Check an experiment file without running it, and show its description",
          check, c);
  add_common(app, o);
  add_experiment(app, o)->required();
  add_tier(app, o);
}

void add_validate(CLI::App& runner, call& c) {
  auto [app, o] =
      add(runner, "validate", "Run all checks on one plugin, with a line for each", validate, c);
  add_common(app, o);
  app.add_option("PLUGIN", o.plugin, "name, name:variant, or its file: ./mine.cu, mine.so")
      ->required();
  add_value(app, "--tier", o.tier, "TIER", "quick, full or paranoid; default: full");
  add_schedule(app);
  add_value(app, "--device", o.device, "NAME", "cpu, cuda or cuda:N");
  add_value(app, "--size", o.size, "SIZE",
            "Size of the problem for the checks that use one: N or MxNxK");
  add_value(app, "--dtype", o.dtype, "TYPE", "Only these element types: f32, bf16, f16->f32, ...");
  add_value(app, "--layout", o.layout, "LAYOUT",
            "Check with this layout: nn, nt, tn or tt; default: the first that is taken");
  add_value(app, "--epilogue", o.epilogue, "STAGES",
            "Only products with this epilogue: \"bias + relu\"; default: each kind that is taken");
  add_value(app, "--batch", o.batch, "N",
            "Only batches of so many products; 1: only plain products");
  add_words(app, "--scale-blocks", o.scale_blocks,
            "Only with a scale for each block of A and of B, or none: 1x128,128x128; none,1x128");
  add_value(app, "--groups", o.groups, "N",
            "Only with rows in so many groups, each with a B of its own");
  add_value(app, "--timeout", o.timeout_seconds, "SECONDS",
            "Seconds after which one step counts as hung; default: 60");
  add_file(app, "--json", o.json, "Write the findings as JSON; - for stdout");
  add_show_errors(app, o.show_errors);
}

void add_judge(CLI::App& runner, call& c) {
  auto [app, o] = add(runner, "judge", "Judge and time files with kernels, for programs", judge, c);
  add_common(app, o);
  app.add_option(
         "FILE", o.files,
         "Each by itself: ./mine.cu, mine.so, kernel.toml, or one variant of it, mine.cu:16x16")
      ->required();
  add_value(app, "--problems", o.problems, "EXPERIMENT",
            "An experiment, for its problems, baseline and timing; default: quick");
  add_value(app, "--baseline", o.baseline, "NAME",
            "What speedups are over; default: the experiment's");
  add_value(app, "--device", o.device, "NAME",
            "auto, cpu, cuda or cuda:N; default: the experiment's");
  add_value(app, "--verify", o.tier, "TIER",
            "How much is checked: quick, full or paranoid; default: full");
  app.add_flag("--json", o.json, "On stdout a JSON document for each file, in a line of its own");
  app.add_flag("--explain", o.explain,
               "With --json, search a wrong kernel's memory accesses too, which compiles it again");
  app.add_flag("--device-code-only", o.device_code_only,
               "Refuse kernels with host code of their own, which runs in the process that times "
               "them: bare kernels, and manifests of compiled ones, have none");
  app.add_flag("--compile-only", o.compile_only,
               "Compile, and run nothing: for a machine without a GPU, as `runner compile` does");
  add_value(app, "-o,--out", o.compiled.out, "DIR", "With --compile-only, where the libraries go");
  add_words(app, "--arch", o.compiled.architectures, "With --compile-only: 90a, 80-real, ...");
}

void add_profile(CLI::App& runner, call& c) {
  auto [app, o] =
      add(runner, "profile", "Profile cells of an experiment with Nsight Compute", profile, c);
  add_plugin_folders(app, o);
  add_experiment(app, o)->required();
  app.get_option("--device")->description("auto, cuda or cuda:N; default: the file's");
  add_cells(app, o.cells);
  add_value(app, "--ncu", o.ncu, "PROGRAM", "Path of Nsight Compute's ncu, if it is not found");
  add_file(app, "--json", o.json, "Write the counters as JSON; - for stdout");
  add_file(app, "--md", o.markdown, "Write the tables as Markdown; - for stdout");
  app.parse_complete_callback([&c, &told = o.ncu_arguments] { told = c.after_dashes; });
}

void add_xray(CLI::App& runner, call& c) {
  auto [app, o] =
      add(runner, "xray", "Count the memory accesses of cells, line by line, in the simulator",
          xray, c);
  add_plugin_folders(app, o);
  add_experiment(app, o)->required();
  app.get_option("--device")->description("Only cpu: the simulator counts, whatever GPU there is");
  add_cells(app, o.cells);
  add_value(app, "--blocks", o.blocks, "N",
            "Run no more blocks of a launch, spread over its grid; counts are scaled to all")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
  app.add_flag("--lines", o.lines, "The source, with the counts of each line");
  add_file(app, "--json", o.json, "Write all counts as JSON; - for stdout");
  add_file(app, "--md", o.markdown, "Write the tables as Markdown; - for stdout");
  add_file(app, "--html", o.html, "Write a page with the source and what each line costs");
}

void add_list(CLI::App& runner, call& c) {
  auto [app, o] = add(runner, "list", "List the plugins", list, c);
  add_common(app, o);
  app.add_option("PLUGIN", o.plugins, "Only these: names, globs, or files such as ./mine.cu");
}

void add_describe(CLI::App& runner, call& c) {
  auto [app, o] = add(runner, "describe", "Describe one plugin and its variants", describe, c);
  add_common(app, o);
  app.add_option("PLUGIN", o.plugin, "Its name, as `runner list` gives it, or its file")
      ->required();
}

void add_compile(CLI::App& runner, call& c) {
  auto [app, o] =
      add(runner, "compile", "Compile plugins for a GPU, on a machine that need have none",
          compile_files, c);
  app.add_option("FILE", o.files,
                 "Sources: plugins, or kernels with a description of their launch; manifests of "
                 "compiled kernels")
      ->required();
  add_words(app, "--arch", o.architectures,
            "90a, 80-real, 90-virtual: as CMAKE_CUDA_ARCHITECTURES, separated by commas; default: "
            "what the source says");
  add_value(app, "-o,--out", o.out, "DIR",
            "Where the libraries go, FILE.cu as FILE.so; default: here");
  add_value(app, "--device", o.device, "NAME", "cuda or cpu; default: cuda");
  add_build_args(app, o.build_args);
}

void add_new(CLI::App& runner, call& c) {
  auto [app, o] =
      add(runner, "new", "Make a folder with a plugin's source to begin with", make_new, c);
  app.add_option("NAME", o.name, "What users will type")->required();
  add_value(app, "--from", o.from, "PLUGIN",
            "Begin with a copy of this plugin; default: the template");
  add_value(app, "--out", o.out, "DIR", "A project with a CMakeLists.txt, in this folder");
}

void add_export(CLI::App& runner, call& c) {
  auto [app, o] =
      add(runner, "export",
          "Make a project of the kernels that tuning found, which needs nothing of this",
          export_kernels, c);
  app.add_option("FILE", o.file, "What `tune --json` wrote, or the journal of a tuning")
      ->required();
  add_value(app, "--out", o.out, "DIR",
            "A new folder. The functions' names begin with its name: letters, digits and '_'")
      ->required();
  app.add_flag("--fallback", o.fallback, "Add a slow kernel for sizes that the others reject");
}

void add_watch(CLI::App& runner, call& c) {
  auto [app, o] =
      add(runner, "watch", "Run a source whenever it is saved, and say what has changed", watch, c);
  o.file = "quick";
  app.add_option("SOURCE", o.source, "A plugin's source: mine.cu, or mine.cu:variant")->required();
  add_common(app, o);
  add_experiment(app, o);
  add_tier(app, o);
}

void add_devices(CLI::App& runner, call& c) {
  auto [app, o] = add(runner, "devices", "List the devices", devices, c);
  app.add_flag("--measure", o.measure,
               "Measure the peaks of each device, ten seconds each, and store them for later "
               "runs");
  add_value(app, "--device", o.device, "NAME", "Only this device: cpu, cuda or cuda:N");
  app.add_flag("--json", o.json, "As JSON, with every sample");
}

void add_submit(CLI::App& runner, call& c) {
  auto [app, o] = add(runner, "submit",
                      "Run an experiment on a cluster: its problems as Slurm jobs", submit, c);
  add_plugin_folders(app, o);
  add_experiment(app, o)->required();
  add_tier(app, o);
  add_show_errors(app, o.show_errors);
  add_value(app, "--shards", o.shards, "N",
            "Jobs that the problems are split into, each with a node of its own; default: 8")
      ->check(CLI::Range(1, 10000));
  add_value(app, "--journal-dir", o.folder, "DIR",
            "A new folder that all nodes share; default: results/DATE_EXPERIMENT_slurm");
  add_value(app, "--setup", o.setup, "FILE",
            "Lines of bash at the start of each job: module loads, or runner=(COMMAND) for a "
            "container");
  app.add_flag("--share-nodes", o.shares_nodes,
               "Let shards share a node, each with GPUs of its own: -- --gpus=1");
  app.add_flag("--by-device", o.by_device, "When merging: as in `runner merge`");
  app.add_flag("--wait", o.waits, "Wait for the result, and show it as `runner merge` does");
  app.add_flag("--dry-run", o.dry_run, "Print the batch scripts, and submit nothing");
  app.parse_complete_callback([&c, &told = o.sbatch_arguments] { told = c.after_dashes; });
}

void add_status(CLI::App& runner, call& c) {
  auto [app, o] = add(runner, "status", "How far the jobs of `runner submit` are", status, c);
  app.add_option("DIR", o.folder, "The folder that they share")->required();
}

void add_merge(CLI::App& runner, call& c) {
  auto [app, o] =
      add(runner, "merge", "Join the results of `runner submit`, and show them", merge, c);
  app.add_option("DIR", o.folder, "The folder that they share; the result is in its merged.json")
      ->required();
  app.add_flag("--by-device", o.by_device,
               "A table, and a file, for each model of GPU, driver and CUDA runtime");
  add_shown(app, o.shown);
}

// Only for its help: the words after `needs` are parsed as a command line of their own.
void add_needs(CLI::App& runner) {
  CLI::App& app = *runner.add_subcommand("needs", "What a command needs built, for scripts");
  app.footer(footer_of("needs"));
  app.add_option("COMMAND", "A command with its arguments, which is not carried out")->required();
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
  add_submit(runner, c);
  add_status(runner, c);
  add_merge(runner, c);
  add_needs(runner);
  runner.footer(footer_of("exit_codes"));  // which subcommands would inherit
}

}  // namespace kzoo::cli
