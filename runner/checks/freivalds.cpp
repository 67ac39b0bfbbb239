#include "checks/freivalds.hpp"

#include "reference/freivalds.hpp"

#include <fmt/format.h>

namespace kzoo::checks {

std::string freivalds::run(candidate& c) const {
  const problem p = reference::exact_companion(c.current_problem());
  const std::uint64_t key = data::hash(p.seed, 3);
  c.prepare(p);
  c.run_unjudged();
  const std::string wrong =
      reference::compare_folds(reference::fold_of_product(p, key), c.host().fold(key));
  if (!wrong.empty()) throw failed(problem_name(p) + ": " + wrong);
  c.finish();
  return fmt::format("all {} elements of C exactly, by weighted row sums; {} rows against fp64",
                     p.m * p.n, reference::expected_result::rows_of(c.current_problem()));
}

}  // namespace kzoo::checks
