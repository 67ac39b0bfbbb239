#pragma once
// [problem] and [[problem]]: lists of values. Each combination is a problem.

#include "core/problem.hpp"
#include "experiment/names.hpp"
#include "experiment/reader.hpp"

#include <vector>

namespace kzoo::experiment {

// "bias + relu".
std::optional<stage_list> read_epilogue(const value& v);
// "1x128".
std::optional<scale_block> read_scale_block(const value& v);

struct problem_set {
  location where;
  std::vector<extents> shapes;
  std::vector<element_types> dtypes = {KZOO_F32};
  std::vector<layout> layouts = {layout::nn};
  std::vector<double> alpha = {1.0}, beta = {0.0};
  location beta_where;  // where the file gives it
  std::vector<std::int64_t> padding = {0};
  std::optional<filling> data;  // absent: default_fill of each dtype
  std::vector<stage_list> epilogues = {{}};
  problem common;  // the seed, the scales and their blocks
  std::vector<std::int64_t> groups = {0};
  std::vector<data::group_rows> group_rows = {data::group_rows::even};
  std::vector<std::int64_t> batch = {1}, batch_padding = {0};
  std::vector<shared_operand> batch_shared = {shared_operand::none};
  precision_set allow;
};

// Reads a [[problem]] table at `where`.
problem_set read_problem(table_reader& keys, const location& where);
// The sets in the order of the file, or a default set. Each set's default `allow` is the file's.
std::vector<problem_set> read_problem_sets(table_reader& file, input::diagnostics& report);

std::vector<extents> distinct_shapes(const std::vector<problem_set>& sets);

// Expands the sets to every combination, each once: sets in order, then dtype, layout, shape,
// batch, alpha, beta, epilogue, padding. A single GEMM ignores the storage of batches. Over
// kMostProblems, reports an error and returns nothing.
std::vector<problem> expand(const std::vector<problem_set>& sets, input::diagnostics& report);

}  // namespace kzoo::experiment
