#pragma once
// Every check of a tier on every variant of a plugin, in each of its element types.

#include "core/tier.hpp"
#include "results/validation.hpp"
#include "run/plan.hpp"

#include <functional>

namespace kzoo::run {

// Told of everything as it happens.
struct validation_observer {
  std::function<void(const results::validated_variant&)> starts = [](const auto&) {};
  std::function<void(const verify::finding&)> found = [](const auto&) {};
};

results::validation validate(std::vector<contestant>& plugins, const devices::device& device,
                             tier t, bool show_errors, const validation_observer& watch);

}  // namespace kzoo::run
