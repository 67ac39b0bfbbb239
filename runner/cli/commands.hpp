#pragma once
// The subcommands, which return the program's exit code, and what they share.

#include "cli/command_line.hpp"
#include "cli/options.hpp"
#include "core/kernel_name.hpp"
#include "results/document.hpp"
#include "results/experiment.hpp"
#include "results/finding.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace kzoo::cli {

int run(const run_options& options);
int rerun(const rerun_options& given);
int tune(const tune_options& options);
run_options tuning_run(const tune_options& options);
// The experiments that they run: the interrupted run's (--resume), and the stored results'.
results::experiment resumed_experiment(const run_options& given);
results::experiment repeated_experiment(const rerun_options& given);
// The experiment of `judge`, without the judged file, and the compilation of --compile-only.
results::experiment experiment_of(const judge_options& options);
compile_options compile_request(const judge_options& options);
int check(const run_options& options);
int profile(const profile_options& options);
int xray(const xray_options& options);
// The command that shows the memory accesses of the first wrong simulated kernel; "" if none.
std::string xray_hint(const results::document& d);
std::string xray_hint(const results::validation& v);
int validate(const validate_options& options);
int judge(const judge_options& options);
int list(const list_options& options);
int describe(const describe_options& options);
int compile_files(const compile_options& options);
// Rejects wrong options and creates the folder. compiled_to_folder() then compiles a file into it.
void prepare_to_compile(const compile_options& options);
std::filesystem::path compiled_to_folder(const compile_options& options, const std::string& file);
int make_new(const new_options& options);
int export_kernels(const export_options& options);
int watch(const watch_options& options);
int devices(const devices_options& options);
int merge(const merge_options& options);
int report(const report_options& options);
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
