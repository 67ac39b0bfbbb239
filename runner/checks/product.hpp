#pragma once
// The same sequence that every cell of an experiment goes through, on the current problem.

#include "checks/check.hpp"

namespace kzoo::checks {

// Runs once, then repeatedly as for timing; each distinct result is judged.
class product final : public check {
 public:
  const char* name() const override { return "product"; }
  tier from() const override { return tier::quick; }
  bool is_about_problem() const override { return true; }
  covered run(candidate& c) const override;
};

}  // namespace kzoo::checks
