#pragma once
// [problem] and [[problem]]: lists of values whose every combination is one problem.

#include "core/problem.hpp"
#include "experiment/reader.hpp"
#include "experiment/sizes.hpp"

#include <vector>

namespace kzoo::experiment {

struct problem_set {
  location where;
  std::vector<extents> shapes;
  std::vector<kzoo_type> dtypes = {KZOO_F32};
  std::vector<double> alpha = {1.0}, beta = {0.0};
  std::vector<std::int64_t> padding = {0};
  std::optional<fill> data;  // nothing: default_fill of each dtype
  std::uint64_t seed = 1;
};

// In the order of the file. A file without one has one default set.
std::vector<problem_set> read_problem_sets(table_reader& file, input::diagnostics& report);

// The shapes of all sets, each once.
std::vector<extents> distinct_shapes(const std::vector<problem_set>& sets);

// Every combination, each once: sets in order, then dtype, shape, alpha, beta, padding. A file
// that expands past kMostProblems is reported before anything is expanded.
std::vector<problem> expand(const std::vector<problem_set>& sets, input::diagnostics& report);

}  // namespace kzoo::experiment
