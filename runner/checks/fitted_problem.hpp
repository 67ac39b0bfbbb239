#pragma once
// Replaces a problem of a check by one that the variant takes.

#include "checks/candidate.hpp"

#include <optional>
#include <string>

namespace kzoo::checks {

struct fitted_problem {
  // The problem itself, or the next larger size that the variant takes. If necessary with few rows
  // or columns, or without padding.
  std::optional<problem> taken;
  std::string objection;  // why it rejects the problem, or its padding
};

// Finds sizes that the variant takes: by its granularity or, if only supports() knows them, by
// trying powers of two.
fitted_problem fit(candidate& c, const problem& p);

}  // namespace kzoo::checks
