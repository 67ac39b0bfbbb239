#include "checks/product.hpp"

#include "checks/timed_runs.hpp"
#include "reference/freivalds.hpp"

#include <fmt/format.h>

namespace kzoo::checks {
namespace {

covered run_product(candidate& c) {
  worker::sample_request how;
  how.warmup = 1;
  how.samples = 5;
  how.max_seconds = 1;
  c.prepare(c.current_problem());
  const judged_run first = c.run();
  require(first.judgement, problem_name(c.current_problem()));
  std::vector judged{first.report.output.digest};
  timing::throttle_filter all_count(0, how.samples);
  const judged_samples timed = sample(c, how, judged, all_count);
  require(timed.judgement, "right when it ran once, wrong when it was timed");
  c.destroy();
  return {fmt::format("{}, error {:.3g} of what is allowed", problem_name(c.current_problem()),
                      first.judgement.accuracy.worst_of_allowed)};
}

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

check product() { return {.name = "product", .run = run_product}; }

check freivalds() { return {"freivalds", run_freivalds, is_too_large, true, tier::quick}; }

}  // namespace kzoo::checks
