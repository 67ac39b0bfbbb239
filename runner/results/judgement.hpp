#pragma once
// What came of one file with kernels, for programs: `runner judge`.

#include "results/document.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::results {

// What came of it, and what found that.
struct outcome_words {
  std::string_view status = "";  // of results/status.hpp
  std::string verdict;           // "" where nothing was run
  std::string check, reason;     // "" for a kernel that passes
};

// On one problem: of the first variant that fails, else of the fastest.
struct judged_problem {
  kzoo::problem problem;
  std::string kernel;
  kzoo_precision precision{};  // that the kernel declares; 0: none for such matrices
  outcome_words came_of_it;
  std::optional<timing::summary> time;
  std::optional<double> gflops;
  std::optional<timing::ratio> speedup;  // over the baseline
  kzoo_precision baseline_precision{};   // 0: it was not timed
};

struct file_judgement {
  std::string file;               // as it was named
  std::string library, sha256;    // that was judged; "": it does not compile
  std::optional<bool> host_code;  // of its author's, in the process that timed it
  outcome_words came_of_it;       // of the first problem that it fails on
  std::vector<judged_problem> problems;
  std::optional<double>
      speedup;  // the geometric mean, where each problem has one, not of a simulator
  std::vector<kzoo_precision> precisions;  // of the problems' kernels, each once
  std::vector<std::string> libraries;      // for matrix products, that it has loaded
  std::vector<std::string> not_checked;    // what checks could not cover
};

// Of the plugin's cells. All of its variants count.
file_judgement judgement_of(const document& d, const std::string& plugin);
// Of a file that is no plugin, whose source does not compile, say.
file_judgement no_plugin(std::string_view check, const std::string& reason);

}  // namespace kzoo::results
