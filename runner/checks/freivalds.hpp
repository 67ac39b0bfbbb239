#pragma once
// All of a C that is too large to be compared element by element.

#include "checks/check.hpp"

namespace kzoo::checks {

// On small whole numbers, exactly; C is summed where it is, so only a number a row is copied.
class freivalds final : public check {
 public:
  const char* name() const override { return "freivalds"; }
  tier from() const override { return tier::quick; }
  bool is_about_problem() const override { return true; }
  bool applies_to(const candidate& s) const override {
    return reference::expected_result::rows_of(s.at()) < s.at().m;
  }
  std::string look(candidate& s) const override;
};

}  // namespace kzoo::checks
