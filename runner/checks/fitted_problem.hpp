#pragma once
// Replaces a problem of a check by one that the variant takes.

#include "checks/candidate.hpp"

#include <optional>
#include <string>

namespace kzoo::checks {

struct fitted_problem {
  // The problem, or the next larger size that is taken, if need be narrow or without padding.
  std::optional<problem> taken;
  std::string objection;  // why it rejects the problem, or its padding
};

// Finds sizes by the variant's granularity or, if only supports() knows them, powers of two.
fitted_problem fit(candidate& c, const problem& p);

}  // namespace kzoo::checks
