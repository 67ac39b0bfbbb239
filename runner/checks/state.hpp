#pragma once
// The checks that ask whether a run depends on anything but its arguments, on the problem at hand.

#include "checks/check.hpp"

namespace kzoo::checks {

class problem_check : public check {
 public:
  bool is_about_problem() const override { return true; }
};

// Other numbers in the same buffers, the same instance: a kept result is the old one.
class new_contents final : public problem_check {
 public:
  const char* name() const override { return "new contents"; }
  std::string look(candidate& s) const override;
};

// Each matrix and the workspace in turn at another address, the same instance; the old place is
// full of NaN.
class new_addresses final : public problem_check {
 public:
  const char* name() const override { return "new addresses"; }
  std::string look(candidate& s) const override;
};

// Instances for two shapes alive at once, run in turn, then two for one shape; and each while
// others are destroyed.
class interleaving final : public problem_check {
 public:
  const char* name() const override { return "interleaving"; }
  std::string look(candidate& s) const override;
};

// The same run again and again: the same bits, or right each time where it declares that they
// differ.
class repeats final : public problem_check {
 public:
  const char* name() const override { return "repeats"; }
  std::string look(candidate& s) const override;
};

}  // namespace kzoo::checks
