#include "verify/checks/product.hpp"

#include <fmt/format.h>

namespace kzoo::verify {

std::string product::look(subject& s) const {
  experiment::timing_options how;
  how.warmup = 1;
  how.samples = 5;
  s.prepare(s.at());
  const judged_run first = s.run();
  require(first.judgement, problem_name(s.at()));
  const judged_samples timed = s.sample(how, first.report.output.digest);
  require(timed.judgement, "right when it ran once, wrong when it was timed");
  s.finish();
  return fmt::format("{}, error {:.3g} of what is allowed", problem_name(s.at()),
                     first.judgement.accuracy.worst_of_allowed);
}

}  // namespace kzoo::verify
