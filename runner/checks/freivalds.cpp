#include "checks/freivalds.hpp"

#include "reference/freivalds.hpp"

#include <fmt/format.h>

namespace kzoo::checks {
namespace {

void require_no(const std::string& wrong, const problem& p) {
  if (!wrong.empty()) throw failed(problem_name(p) + ": " + wrong);
}

}  // namespace

covered freivalds::run(candidate& c) const {
  const problem& real = c.current_problem();
  const std::uint64_t key = c.expected_cache().key();
  c.prepare(real);
  c.run_unjudged();
  if (!is_integer(real.dtype)) {
    require_no(
        reference::compare_rounded(real, c.declared(), *c.expected_cache().rounded_sums(real),
                                   c.client().fold(key)),
        real);
  }
  const problem exact = reference::exact_companion(real);
  c.prepare(exact);
  c.run_unjudged();
  require_no(
      reference::compare_exact(exact, *c.expected_cache().exact_sums(exact), c.client().fold(key)),
      exact);
  c.finish();
  return {
      fmt::format("all {} elements of C by weighted row sums, and exactly on small integers; {} "
                  "random rows against fp64",
                  real.all_rows() * real.n, reference::expected_result::rows_of(real))};
}

}  // namespace kzoo::checks
