#include "checks/single_cell.hpp"

#include "checks/timed_runs.hpp"

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
  timing::throttle_filter all_count(0, how.samples);
  const judged_samples timed = sample(c, how, all_count);
  require(timed.judgement, "right when it ran once, wrong when it was timed");
  c.destroy();
  return {fmt::format("{}, error {:.3g} of what is allowed", problem_name(c.current_problem()),
                      first.judgement.accuracy.worst_of_allowed)};
}

}  // namespace

check runs_and_repeats() { return {.name = "product", .run = run_product}; }

}  // namespace kzoo::checks
