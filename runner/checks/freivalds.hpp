#pragma once
// Checks all of a C that is too large to be compared element by element.

#include "checks/check.hpp"

namespace kzoo::checks {

// Freivalds' algorithm on small integers, which is exact. C is summed on the device, so that only
// one number per row is copied.
class freivalds final : public check {
 public:
  const char* name() const override { return "freivalds"; }
  tier from() const override { return tier::quick; }
  bool is_about_problem() const override { return true; }
  bool applies_to(const candidate& c) const override {
    return reference::expected_result::rows_of(c.current_problem()) <
           c.current_problem().all_rows();
  }
  covered run(candidate& c) const override;
};

}  // namespace kzoo::checks
