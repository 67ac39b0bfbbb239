#pragma once
// What a line's counts say to do.

#include "xray/counters.hpp"

#include <string>

namespace kzoo::xray {

// A sentence for a line that needs more passes than its bytes do; "" for others.
std::string advice_on(const line_counts& l);

// For each of the 32 lanes of the line's worst request the sector or the bank that it accesses, a
// dot for lanes that are not active: "0 0 0 0 1 1 1 1 ...".
std::string picture_of(const line_counts& l);
// What the numbers in it are: "sectors", "banks".
constexpr const char* picture_unit(access a) { return is_shared(a) ? "banks" : "sectors"; }

}  // namespace kzoo::xray
