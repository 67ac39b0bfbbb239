#pragma once
// The head of a results document: what is known before anything runs.

#include "results/document.hpp"
#include "run/plan.hpp"

#include <string>

namespace kzoo::run {

results::document head_of(const plan& p);

// The current UTC time in ISO 8601, the format of stored results.
std::string utc_now();

}  // namespace kzoo::run
