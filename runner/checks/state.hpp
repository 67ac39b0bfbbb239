#pragma once
// Checks that a run depends on nothing but its arguments, on the current problem.

#include "checks/check.hpp"

namespace kzoo::checks {

class problem_check : public check {
 public:
  bool is_about_problem() const override { return true; }
};

// New contents in the same buffers, with the same instance: finds cached results.
class new_contents final : public problem_check {
 public:
  const char* name() const override { return "new contents"; }
  covered run(candidate& c) const override;
};

// Each matrix and the workspace in turn at a new address, with the same instance; the old memory is
// filled with NaN. Finds cached pointers.
class new_addresses final : public problem_check {
 public:
  const char* name() const override { return "new addresses"; }
  covered run(candidate& c) const override;
};

// Several live instances, of two shapes and then also two of the same shape, run in turn and while
// others are destroyed: finds state that instances share.
class interleaving final : public problem_check {
 public:
  const char* name() const override { return "interleaving"; }
  covered run(candidate& c) const override;
};

// The same run many times: bit-identical results, or right ones if the variant is declared
// nondeterministic.
class repeats final : public problem_check {
 public:
  const char* name() const override { return "repeats"; }
  covered run(candidate& c) const override;
};

}  // namespace kzoo::checks
