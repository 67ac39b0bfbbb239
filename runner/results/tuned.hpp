#pragma once
// The outcome of tuning for other programs: the kernels of each problem.

#include "core/problem.hpp"
#include "results/best.hpp"
#include "results/document.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kzoo::results {

struct tuned_kernel {
  kernel_id kernel;
  kzoo_precision precision{};
  double median_ms = 0;
  std::optional<timing::interval> interval_ms;  // of the median, 95 %
  std::optional<timing::ratio> speedup;         // over the baseline
  timing::stop stopped = timing::stop::precise;
  tuning_point parameters{};           // of a tuned source
  std::vector<std::string> options{};  // compiler options for the parameters
};

struct tuned_problem {
  kzoo::problem problem;
  std::vector<tuned_kernel> ranked;  // the first is the best; empty: none was timed
  std::vector<std::string> ties;     // other kernels that tie with it
  std::vector<std::string> open;     // undecided when the budget was over
};

struct tuned_plugin {
  std::string name;
  std::filesystem::path source, file;  // no source: a library
  std::string source_sha256;
  std::vector<std::string> build_args;  // from the command line
  std::string build;                    // compiler and architectures
  std::vector<std::string> missing{};   // headers that the source was compiled without
};

struct tuned {
  std::string version, host, started;
  double wall_seconds = 0;
  results::device device;
  std::string compute_capability;  // "9.0"; "" on the cpu
  std::filesystem::path experiment;
  kzoo::tier tier{};  // checks that every kernel here has passed
  std::optional<std::string> baseline;
  std::optional<double> budget_seconds;
  tuning_cost cost;
  std::vector<tuned_plugin> plugins;
  std::vector<tuned_problem> problems;
};

tuned tuned_of(const document& d);

}  // namespace kzoo::results
