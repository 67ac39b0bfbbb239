#pragma once

#include "experiment/names.hpp"
#include "experiment/reader.hpp"

#include <optional>
#include <vector>

namespace kzoo::experiment {

// The limit of problems in a file, and of sizes in a range.
inline constexpr std::size_t kMostProblems = 10000;

// A value of m, n or k: an integer, or a range table.
std::optional<std::vector<std::int64_t>> dimensions(const value& v);

// A value of `sizes`: an integer (a cube), "MxNxK", [m, n, k], or a range table of cubes.
std::optional<std::vector<extents>> shapes(const value& v);

}  // namespace kzoo::experiment
