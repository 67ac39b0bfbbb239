#pragma once
// The truths of the problems at hand, each computed once.

#include "core/problem.hpp"
#include "referee/referee.hpp"

#include <map>
#include <memory>

namespace kzoo::verify {

class truths {
 public:
  std::shared_ptr<const referee::truth> of(const problem& p);
  // When another problem is at hand: keeps those of the checks, which come again and again.
  void forget_large();

 private:
  std::map<problem, std::shared_ptr<const referee::truth>> known_;
};

}  // namespace kzoo::verify
