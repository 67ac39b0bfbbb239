#pragma once
// A map of where C is wrong, drawn in characters.

#include "reference/judge.hpp"

#include <cstddef>
#include <span>

namespace kzoo::reference {

// Maps a whole C buffer, as judge() takes it. Rows that the expected result does not cover are only
// searched for elements that are not written or not finite.
error_map map_errors(const expected_result& t, kzoo_precision declared,
                     std::span<const std::byte> words);

// Its lines: the picture, its legend, and a small table of the first elements that differ.
std::vector<std::string> lines_of(const error_map& map);

}  // namespace kzoo::reference
