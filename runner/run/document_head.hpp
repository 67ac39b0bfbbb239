#pragma once
// The head of a results document: what is known before anything runs.

#include "results/document.hpp"
#include "run/plan.hpp"

#include <string>

namespace kzoo::run {

results::document head_of(const plan& p);

// The current time as results store it: ISO 8601.
std::string utc_now();

}  // namespace kzoo::run
