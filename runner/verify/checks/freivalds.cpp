#include "verify/checks/freivalds.hpp"

#include "referee/freivalds.hpp"

#include <fmt/format.h>

namespace kzoo::verify {

std::string freivalds::look(subject& s) const {
  const problem p = referee::exact_companion(s.at());
  const std::uint64_t key = data::hash(p.seed, 3);
  s.prepare(p);
  s.run_unseen();
  const std::string wrong =
      referee::compare_folds(referee::fold_of_product(p, key), s.host().fold(key));
  if (!wrong.empty()) throw failed(problem_name(p) + ": " + wrong);
  s.finish();
  return fmt::format("all {} elements of C, exactly, as sums over rows; {} rows in fp64", p.m * p.n,
                     referee::truth::rows_of(s.at()));
}

}  // namespace kzoo::verify
