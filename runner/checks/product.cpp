// Checks of the product on the current problem.

#include "checks/check.hpp"
#include "checks/timed_runs.hpp"
#include "reference/product_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace kzoo::checks {
namespace {

// For pipelined kernels in the simulator, whose problems are small: more k tiles than stages, in
// rows that TMA can store.
std::optional<problem> many_k_tiles(candidate& c) {
  if (!c.who().simulated || c.who().description.compute_capability < 90) return {};
  return fit(c, resized(c.current_problem(), 136, 264, 1096)).taken;
}

covered run_product(candidate& c) {
  worker::sample_request request;
  request.warmup = 1;
  request.samples = 5;
  request.max_seconds = 1;
  c.prepare(c.current_problem());
  const judged_run first = c.run();
  require(first.judgement, problem_name(c.current_problem()));
  timing::throttle_filter all_count(0, request.samples);
  const judged_samples timed = sample(c, request, all_count);
  require(timed.judgement, "right when it ran once, wrong when it was timed");
  c.destroy();
  std::string also;
  if (const auto longer = many_k_tiles(c)) {
    sweep(c, {*longer});
    also = "; also " + shape_name(*longer);
  }
  return {fmt::format("{}, error {:.3g} of what is allowed{}", problem_name(c.current_problem()),
                      first.judgement.accuracy.worst_of_allowed, also)};
}

}  // namespace

check runs_and_repeats() { return {.name = "product", .run = run_product}; }

namespace {

// A problem of the same shape whose C is exact in every element type.
problem exact_companion(problem p) {
  p.alpha = 1;
  p.beta = 0;
  p.data = fill::signs;
  return p;
}

// Finds an error that is small compared with a row's rounding errors, which the run on the
// problem's own numbers could not show.
covered run_exactly(candidate& c) {
  const problem& real = c.current_problem();
  c.prepare(exact_companion(real));
  // With an epilogue, each run compares other elements.
  constexpr int kRuns = 16;
  for (int run = 0; run < (real.epilogue.empty() ? 1 : kRuns); ++run)
    require(c.run_fresh(), problem_name(c.prepared()));
  c.destroy();
  const std::string seen =
      real.epilogue.empty()
          ? fmt::format("all {} elements of C by weighted row sums", real.all_rows() * real.n)
          : fmt::format("{0} elements of each {1} x {1} part of C", kRuns, reference::kPart);
  return {fmt::format("{}, and exactly on small integers; {} random rows against fp64", seen,
                      reference::expected_result::rows_of(real))};
}

bool is_too_large(const candidate& c) {
  const problem& p = c.current_problem();
  return reference::expected_result::rows_of(p) < p.all_rows();
}

}  // namespace

check freivalds() { return {"freivalds", run_exactly, is_too_large, true, tier::quick}; }

namespace {

// Excludes A's contents that depend on M: transposed A, row scales, groups. Integers are exact.
bool is_asked(const candidate& c) {
  const problem& p = c.current_problem();
  return !is_integer(p.dtype) && !is_a_transposed(p.layout) && p.scale_block_a.extent != 1 &&
         p.groups == 0;
}

// Problems that differ only in M, with the same first rows of A and the same B.
std::vector<problem> batch_sizes(candidate& c) {
  const bool is_gpu = c.who().device != "cpu";
  const std::int64_t most = is_gpu ? 1024 : 256;
  const problem p = resized(c.current_problem(), most, is_gpu ? 4096 : 64, is_gpu ? 4096 : 512);
  const auto largest = fit(c, p).taken;
  if (!largest) return {};
  std::vector<problem> list;
  for (const std::int64_t m : {1, 2, 8, 16, 17, 32, 64, 100, 128, 256, 512, 1024}) {
    problem smaller = *largest;
    smaller.m = m;
    const auto taken = m > most ? std::nullopt : fit(c, smaller).taken;
    if (!taken || std::pair(taken->n, taken->k) != std::pair(largest->n, largest->k)) continue;
    if (list.empty() || taken->m > list.back().m) list.push_back(*taken);
  }
  return list;
}

using row_bits = std::vector<std::byte>;

// The bits of these rows of C.
std::vector<row_bits> rows_of(candidate& c, const problem& p,
                              const std::vector<std::int64_t>& rows) {
  worker::run_request request;
  request.output.rows = rows;
  c.prepare(p);
  c.client().run(request);
  const std::span<const std::byte> all = c.client().output();
  const std::size_t bytes = static_cast<std::size_t>(p.n) * type_size(p.dtype.c);
  std::vector<row_bits> bits;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = all.subspan(i * bytes, bytes);
    bits.emplace_back(row.begin(), row.end());
  }
  c.destroy();
  return bits;
}

covered run_batch_invariance(candidate& c) {
  if (c.who().description.nondeterministic)
    return {"no: it is declared nondeterministic, so two runs need not agree"};
  const std::vector<problem> problems = batch_sizes(c);
  if (problems.size() < 2)
    return {"unknown: it takes fewer than two of the sizes, which differ in M alone"};
  struct known_row {
    std::int64_t m;  // the first problem with the row has this M
    row_bits bits;
  };
  std::map<std::int64_t, known_row> known;
  std::vector<std::int64_t> rows, equal;
  for (const problem& p : problems) {
    // The first row, and the last row of each smaller problem, where tiles end.
    for (const std::int64_t row : {std::int64_t{0}, p.m - 1})
      if (std::ranges::find(rows, row) == rows.end()) rows.push_back(row);
    const std::vector<row_bits> bits = rows_of(c, p, rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto [at, is_new] = known.try_emplace(rows[i], known_row{p.m, bits[i]});
      if (at->second.bits == bits[i]) continue;
      return {fmt::format("{}: row {} at M = {} differs from row {} at M = {}; N = {}, K = {}",
                          equal.size() < 2 ? "no" : fmt::format("up to M = {}", equal.back()),
                          rows[i], at->second.m, rows[i], p.m, p.n, p.k)};
    }
    equal.push_back(p.m);
  }
  return {fmt::format("yes: rows have the same bits at M = {}; N = {}, K = {}",
                      fmt::join(equal, ", "), problems.front().n, problems.front().k)};
}

}  // namespace

check batch_invariance() {
  return {.name = results::kBatchInvariance.data(),
          .run = run_batch_invariance,
          .applies_to = is_asked};
}

}  // namespace kzoo::checks
