#include "checks/freivalds.hpp"

#include "reference/product_check.hpp"

#include <fmt/format.h>

namespace kzoo::checks {
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

}  // namespace kzoo::checks
