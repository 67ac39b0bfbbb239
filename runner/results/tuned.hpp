#pragma once
// The outcome of tuning: the fastest kernel of each problem, how certain it is, and the same for
// other programs.

#include "core/problem.hpp"
#include "results/document.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kzoo::results {

struct ranking {
  std::size_t problem = 0;
  // Timed kernels except baseline and simulations, by time; kernels stopped as slower come last.
  std::vector<const cell*> ranked;
  // Kernels after the first whose intervals do not tell them from it.
  std::vector<const cell*> ties;
  // Undecided when the run's time was over: neither measured to the end nor slower beyond doubt.
  // Includes kernels that wait for their first round.
  std::vector<const cell*> open;

  const cell* best() const { return ranked.empty() ? nullptr : ranked.front(); }
};

std::vector<ranking> rank(const document& d);

struct tuning_cost {
  std::size_t points = 0, from_cache = 0, not_compiled = 0, left_out = 0, not_drawn = 0;
  double compile_seconds = 0;
  std::size_t judged = 0, timed = 0, stopped = 0;  // cells; stopped: as slower kernels
  double judge_seconds = 0, time_seconds = 0;
};
tuning_cost cost_of(const document& d);

// 0: complete, each problem has a best kernel, and exit_code() is 0. 1 otherwise.
int exit_code_of_tuning(const document& d);

struct tuned_kernel {
  kernel_id kernel;
  kzoo_precision precision{};
  double median_ms = 0;
  std::optional<timing::interval> interval_ms;  // the median's, 95 %
  std::optional<timing::ratio> speedup;         // over the baseline
  timing::stop stopped = timing::stop::precise;
  tuning_point parameters{};           // a tuned source's
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
  std::string compute_capability;  // "9.0"; empty on the cpu
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
