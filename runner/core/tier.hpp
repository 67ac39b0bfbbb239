#pragma once
// How thoroughly a variant is checked before it counts as correct: docs/verdicts.md.

#include <array>
#include <string_view>

namespace kzoo {

enum class tier { quick, full, paranoid };
inline constexpr std::array kTiers = {tier::quick, tier::full, tier::paranoid};

constexpr std::string_view tier_name(tier t) {
  return t == tier::quick ? "quick" : t == tier::full ? "full" : "paranoid";
}

}  // namespace kzoo
