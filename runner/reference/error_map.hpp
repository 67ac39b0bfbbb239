#pragma once
// A map of where C is wrong, drawn in characters.

#include "reference/judge.hpp"

#include <cstddef>
#include <span>

namespace kzoo::reference {

// Maps a whole C buffer, as judge() takes it. Rows outside the expected result are only searched
// for unwritten or non-finite elements.
error_map map_errors(const expected_result& t, kzoo_precision declared,
                     std::span<const std::byte> words);

// The picture, its legend, and a small table of the first differing elements.
std::vector<std::string> lines_of(const error_map& map);

}  // namespace kzoo::reference
