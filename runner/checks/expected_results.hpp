#pragma once
// Caches expected results, so that each is computed once.

#include "core/problem.hpp"
#include "reference/reference.hpp"

#include <map>
#include <memory>

namespace kzoo::checks {

class expected_results {
 public:
  std::shared_ptr<const reference::expected_result> of(const problem& p);
  // Called before the next problem: keeps only the small ones, which the checks use for every
  // kernel.
  void forget_large();

 private:
  std::map<problem, std::shared_ptr<const reference::expected_result>> known_;
};

}  // namespace kzoo::checks
