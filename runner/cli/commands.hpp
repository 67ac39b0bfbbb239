#pragma once
// The subcommands, which return the program's exit code, and what they share.

#include "cli/options.hpp"
#include "results/document.hpp"
#include "results/experiment.hpp"
#include "results/finding.hpp"

#include <filesystem>
#include <string>

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

}  // namespace kzoo::cli
