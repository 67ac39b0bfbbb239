#pragma once

#include "xray/counters.hpp"

#include <string>

namespace kzoo::xray {

// Advice for a line that needs more passes than its bytes do; "" for others.
std::string advice_on(const line_counts& l);

// The sector or bank of each lane in the line's worst request, a dot if inactive: "0 0 . 1 ...".
std::string picture_of(const line_counts& l);
constexpr const char* picture_unit(access a) { return is_shared(a) ? "banks" : "sectors"; }

}  // namespace kzoo::xray
