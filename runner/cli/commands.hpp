#pragma once
// The subcommands: the options of each, and its function, which returns the program's exit code.

#include "cli/command_line.hpp"
#include "core/kernel_name.hpp"
#include "report/terminal.hpp"
#include "results/document.hpp"
#include "results/experiment.hpp"
#include "results/finding.hpp"
#include "setup/plan.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kzoo::cli {

using setup::common_options;
using setup::experiment_options;

// Output options of run and rerun.
struct output_options : common_options {
  report::shown_options shown;
  std::optional<std::string> json, csv, markdown, junit;  // files; "-" is stdout
  std::optional<std::string> journal;                     // absent: a new one under results/
  bool no_journal = false;
  bool quiet = false;
  bool show_errors = false;
};

// `file` may be empty only with `resume`: the experiment is then the interrupted run's.
struct run_options : output_options, experiment_options {
  std::optional<std::string> resume;  // a journal; empty text: the newest
  bool or_resume = false;             // continue `journal` if it exists
  bool trust_folders = false;         // with resume: as in rerun_options
};
int run(const run_options& options);
int check(const run_options& options);

struct rerun_options : output_options {
  std::string file;
  bool trust_folders = false;  // load plugins from the folders that the result names
};
int rerun(const rerun_options& given);
// The experiments of `run --resume` and `rerun`: the interrupted run's, and the stored results'.
results::experiment resumed_experiment(const run_options& given);
results::experiment repeated_experiment(const rerun_options& given);

struct tune_options : run_options {
  std::optional<std::string> budget;  // "60s", "5m", "1h"
};
int tune(const tune_options& options);
run_options tuning_run(const tune_options& options);

struct profile_options : common_options, experiment_options {
  std::vector<std::string> cells;             // empty: all of the first problem
  std::optional<std::string> ncu;             // its path; absent: search for it
  std::optional<std::string> json, markdown;  // files; "-" is stdout
  std::vector<std::string> ncu_arguments;     // after --
};
int profile(const profile_options& options);

struct xray_options : common_options, experiment_options {
  std::vector<std::string> cells;  // empty: all of the first problem
  bool lines = false;
  std::uint64_t blocks = 0;                         // 0: about half a minute's worth
  std::optional<std::string> json, markdown, html;  // files; "-" is stdout
};
int xray(const xray_options& options);
// The command that shows the memory accesses of the first wrong simulated kernel; empty if
// there is none.
std::string xray_hint(const results::document& d);
std::string xray_hint(const results::validation& v);

struct validate_options : common_options {
  std::string plugin;  // name, name:variant or glob; or FILE.so, FILE.so:variant
  std::optional<std::string> size, dtype;  // absent: the default size, all types
  std::optional<std::string> layout;       // absent: the first that the variant supports
  std::optional<std::string> epilogue, batch, groups;
  std::vector<std::string> scale_blocks;  // A's and B's; empty: none
  std::string tier = "full";
  std::optional<std::string> device;  // absent: a device that the plugin has a build for
  std::optional<std::string> json;    // a file; "-" is stdout
  double timeout_seconds = 60;
  bool show_errors = false;
};
int validate(const validate_options& options);

struct compile_options {
  std::vector<std::string> files;          // sources, and manifests of compiled kernels
  std::vector<std::string> architectures;  // empty: the source's, else those of this runner's build
  std::vector<std::string> build_args;     // compiler options
  std::string out = ".";
  std::string device = "cuda";
  bool device_code_only = false;  // refuse files with host code
};
int compile_files(const compile_options& options);
// Rejects wrong options and creates the folder. compiled_to_folder() then compiles a file into it.
void prepare_to_compile(const compile_options& options);
std::filesystem::path compiled_to_folder(const compile_options& options, const std::string& file);

struct judge_options : common_options {
  std::vector<std::string> files;
  std::string problems = "quick";               // an experiment, whose plugins do not matter
  std::optional<std::string> device, baseline;  // absent: the experiment's
  std::string tier = "full";
  bool json = false;     // a line for each file
  bool explain = false;  // also with json: wrong memory accesses of a wrong kernel
  bool device_code_only = false;
  bool compile_only = false;
  compile_options compiled;  // only with compile_only, for its output and targets
};
int judge(const judge_options& options);
// The experiment of a judgement, without its plugins; the compilation of --compile-only.
results::experiment experiment_of(const judge_options& options);
compile_options compile_request(const judge_options& options);

struct list_options : common_options {
  std::vector<std::string> plugins;  // empty: all
};
int list(const list_options& options);

struct describe_options : common_options {
  std::string plugin;
};
int describe(const describe_options& options);

struct new_options {
  std::string name;
  std::optional<std::string> from;  // a plugin of the zoo; absent: the template
  std::optional<std::string> out;   // a separate project's folder; absent: a folder with the name
};
int make_new(const new_options& options);

struct export_options {
  std::string file;  // from `tune --json`
  std::string out;   // a new folder, whose name the functions get
  bool fallback = false;
};
int export_kernels(const export_options& options);

struct watch_options : common_options, experiment_options {
  std::string source;
};
int watch(const watch_options& options);

struct merge_options {
  std::string folder;
  bool by_device = false;
  report::shown_options shown;
};
int merge(const merge_options& options);

struct devices_options {
  std::optional<std::string> device;  // absent: all
  bool measure = false, json = false;
};
int devices(const devices_options& options);

enum class format { json, csv, markdown, junit };

struct report_options {
  std::vector<std::string> files;   // a single file; several with html and svg
  std::optional<std::string> html;  // a file; "-" is stdout
  std::optional<std::string> svg;   // a folder
  report::shown_options shown;
  std::optional<format> as;  // absent: tables for the terminal
};
int report(const report_options& options);

struct compare_options {
  std::vector<std::string> files;  // OLD NEW, or one file with --baseline
  std::string threshold = "3%";
  std::optional<std::string> baseline;
  bool force = false, markdown = false;
};
int compare(const compare_options& options);

// `runner needs`: what another command needs built, for scripts that build it first, such as ./zoo.
struct needs {
  std::vector<std::string> devices;  // by name; several: any of them
  std::vector<selector> plugins;
  bool experiment = false;  // an experiment file, which the command does not name
  bool charts = false;      // the charting library
};

// The needs of a command. Loads and measures nothing, asks no GPU. Throws where the command would.
needs needs_of(const run_options& o);  // also for check
needs needs_of(const tune_options& o);
needs needs_of(const rerun_options& o);
needs needs_of(const validate_options& o);
needs needs_of(const profile_options& o);
needs needs_of(const xray_options& o);
needs needs_of(const judge_options& o);
needs needs_of(const list_options& o);
needs needs_of(const describe_options& o);
needs needs_of(const compile_options& o);
needs needs_of(const watch_options& o);
needs needs_of(const report_options& o);
inline needs needs_of(const auto& /*of another command*/) { return {}; }

// Prints them line by line, as the help of `needs` describes.
void print_needs(const needs& n);

}  // namespace kzoo::cli
