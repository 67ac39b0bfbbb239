#include "checks/product.hpp"

#include <fmt/format.h>

namespace kzoo::checks {

std::string product::look(candidate& s) const {
  worker::sample_request how;
  how.warmup = 1;
  how.samples = 5;
  how.max_seconds = 1;
  how.compare_clocks = true;
  s.prepare(s.at());
  const judged_run first = s.run();
  require(first.judgement, problem_name(s.at()));
  std::vector judged{first.report.output.digest};
  timing::throttle_filter all_count(0, how.samples);
  const judged_samples timed = s.sample(how, judged, all_count);
  require(timed.judgement, "right when it ran once, wrong when it was timed");
  s.finish();
  return fmt::format("{}, error {:.3g} of what is allowed", problem_name(s.at()),
                     first.judgement.accuracy.worst_of_allowed);
}

}  // namespace kzoo::checks
