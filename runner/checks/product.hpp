#pragma once
// The protocol that every cell of an experiment goes through, on the problem at hand.

#include "checks/check.hpp"

namespace kzoo::checks {

// Runs once, then again and again as it does when it is timed: each different output is judged.
class product final : public check {
 public:
  const char* name() const override { return "product"; }
  tier from() const override { return tier::quick; }
  bool is_about_problem() const override { return true; }
  std::string look(candidate& s) const override;
};

}  // namespace kzoo::checks
