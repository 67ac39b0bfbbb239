#pragma once
// A problem that a variant takes, in place of one that a check asks for.

#include "checks/candidate.hpp"

#include <optional>
#include <string>

namespace kzoo::checks {

struct fitted_problem {
  // The same, or one of the next larger sizes that it takes, with few rows or columns if it takes
  // no more; without padding if it takes no other.
  std::optional<problem> taken;
  std::string objection;  // why it declines, where nothing is taken or the padding is left out
};

// Finds sizes that the variant takes: by its granularity, or, where supports() alone knows it, by
// trying powers of two.
fitted_problem fit(candidate& c, const problem& p);

}  // namespace kzoo::checks
