#include "checks/freivalds.hpp"

#include "reference/freivalds.hpp"

#include <fmt/format.h>

namespace kzoo::checks {

std::string freivalds::look(candidate& s) const {
  const problem p = reference::exact_companion(s.at());
  const std::uint64_t key = data::hash(p.seed, 3);
  s.prepare(p);
  s.run_unseen();
  const std::string wrong =
      reference::compare_folds(reference::fold_of_product(p, key), s.host().fold(key));
  if (!wrong.empty()) throw failed(problem_name(p) + ": " + wrong);
  s.finish();
  return fmt::format("all {} elements of C, exactly, as sums over rows; {} rows in fp64", p.m * p.n,
                     reference::expected_result::rows_of(s.at()));
}

}  // namespace kzoo::checks
