#include "checks/freivalds.hpp"

#include "reference/freivalds.hpp"

#include <fmt/format.h>

namespace kzoo::checks {
namespace {

void require_no(const std::string& wrong, const problem& p) {
  if (!wrong.empty()) throw failed(problem_name(p) + ": " + wrong);
}

covered run_freivalds(candidate& c) {
  const problem& real = c.current_problem();
  expected_results& expected = c.judge().cache();
  const std::uint64_t key = expected.key();
  c.prepare(real);
  c.run_unjudged();
  if (!is_integer(real.dtype)) {
    require_no(reference::compare_rounded(real, c.declared(), *expected.rounded_sums(real),
                                          c.client().sum_rows(key)),
               real);
  }
  const problem exact = reference::exact_companion(real);
  c.prepare(exact);
  c.run_unjudged();
  require_no(reference::compare_exact(exact, *expected.exact_sums(exact), c.client().sum_rows(key)),
             exact);
  c.destroy();
  return {
      fmt::format("all {} elements of C by weighted row sums, and exactly on small integers; {} "
                  "random rows against fp64",
                  real.all_rows() * real.n, reference::expected_result::rows_of(real))};
}

bool is_too_large(const candidate& c) {
  const problem& p = c.current_problem();
  return reference::expected_result::rows_of(p) < p.all_rows();
}

}  // namespace

check freivalds() { return {"freivalds", run_freivalds, is_too_large, true, tier::quick}; }

}  // namespace kzoo::checks
