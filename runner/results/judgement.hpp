#pragma once
// The outcome of a file with kernels, for programs: `runner judge`.

#include "core/verdict.hpp"
#include "results/document.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::results::status {

// Outcomes in the words of SOL-ExecBench (EvaluationStatus), for programs that know them.
inline constexpr std::string_view kPassed = "PASSED", kIncorrect = "INCORRECT_NUMERICAL",
                                  kRuntimeError = "RUNTIME_ERROR", kCompileError = "COMPILE_ERROR",
                                  kTimeout = "TIMEOUT", kRewardHack = "REWARD_HACK",
                                  kIncorrectDtype = "INCORRECT_DTYPE";
// Two of our own: the kernel declines the problem; the judge cannot judge here.
inline constexpr std::string_view kUnsupported = "UNSUPPORTED", kJudgeError = "JUDGE_ERROR";

// The word for a verdict; `check`: results::cell::check.
std::string_view of(verdict v, std::string_view check);

}  // namespace kzoo::results::status

namespace kzoo::results {

struct outcome_words {
  std::string_view status = "";  // a word of results::status
  std::string verdict;           // empty if nothing was run
  std::string check, reason;     // empty for a kernel that passes
};

// The outcome of one problem: its first failing variant, else its fastest variant.
struct judged_problem {
  kzoo::problem problem;
  std::string kernel;
  kzoo_precision precision{};  // declared by the kernel; 0: it does not support the types
  outcome_words came_of_it;
  std::optional<timing::summary> time;
  std::optional<double> gflops;
  std::optional<timing::ratio> speedup;  // over the baseline
  kzoo_precision baseline_precision{};   // 0: it was not timed
};

struct file_judgement {
  std::string file;               // as it was named
  std::string library, sha256;    // the judged file's; empty: it does not compile
  std::optional<bool> host_code;  // whether the author's host code ran in the timing process
  outcome_words came_of_it;       // for the first problem on which it fails
  std::vector<judged_problem> problems;
  std::optional<double> speedup;  // geometric mean, if every problem has one on a real device
  std::vector<kzoo_precision> precisions;  // the kernels' precisions, each once
  std::vector<std::string> libraries;      // loaded GEMM libraries
  std::vector<std::string> not_checked;    // what checks could not cover
};

// The judgement of all variants of a plugin.
file_judgement judgement_of(const document& d, const std::string& plugin);
// The judgement of a file of which nothing was run, e.g. because it does not compile.
file_judgement not_run(std::string_view status, std::string_view check, const std::string& reason);

}  // namespace kzoo::results
