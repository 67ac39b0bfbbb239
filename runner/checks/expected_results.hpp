#pragma once
// The truths of the problems at hand, each computed once.

#include "core/problem.hpp"
#include "reference/reference.hpp"

#include <map>
#include <memory>

namespace kzoo::checks {

class expected_results {
 public:
  std::shared_ptr<const reference::expected_result> of(const problem& p);
  // When another problem is at hand: keeps those of the checks, which come again and again.
  void forget_large();

 private:
  std::map<problem, std::shared_ptr<const reference::expected_result>> known_;
};

}  // namespace kzoo::checks
