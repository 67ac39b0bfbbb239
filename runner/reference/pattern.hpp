#pragma once
// Names the pattern that some elements of a matrix form, which often gives the bug away.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace kzoo::reference {

// "row 7", "row 2, column 3", "columns 192 to 255 of every row", "every 2nd row from row 1", "rows
// 250 to 255 and columns 192 to 255", "rows 0 to 63 of columns 64 to 127", "everything from row 3,
// column 17 on". Nothing if the elements form no such pattern, or if none is marked. Every
// marked element is in the named region, and at least the share `filled` of the region is marked.
std::optional<std::string> pattern_of(
    std::int64_t rows, std::int64_t cols,
    const std::function<bool(std::int64_t row, std::int64_t col)>& marked, double filled = 1.0);

// The same for a batch, whose rows are numbered through: "products 1 to 7", or the same pattern in
// each of some: "column 63 of every row of product 3".
std::optional<std::string> pattern_of(
    std::int64_t products, std::int64_t rows, std::int64_t cols,
    const std::function<bool(std::int64_t row, std::int64_t col)>& marked, double filled = 1.0);

}  // namespace kzoo::reference
