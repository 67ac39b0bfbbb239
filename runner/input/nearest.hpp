#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kzoo::input {

// The word of `known` with the smallest edit distance to `found`, regardless of case; "": none is
// close.
std::string nearest(std::string_view found, const std::vector<std::string>& known);

}  // namespace kzoo::input
