#pragma once
// Names the pattern that some elements of a matrix form, which often reveals the bug.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace kzoo::reference {

// "row 7", "row 2, column 3", "columns 192 to 255 of every row", "every 2nd row from row 1", "rows
// 250 to 255 and columns 192 to 255", "rows 0 to 63 of columns 64 to 127", "everything from row 3,
// column 17 on". Nothing if there is no such pattern or no marked element. The named region
// contains all marked elements, and at least the share `filled` of it is marked.
std::optional<std::string> pattern_of(
    std::int64_t rows, std::int64_t cols,
    const std::function<bool(std::int64_t row, std::int64_t col)>& marked, double filled = 1.0);

// For a batch, with rows numbered consecutively: "products 1 to 7", or one pattern in several
// matrices: "column 63 of every row of product 3".
std::optional<std::string> pattern_of(
    std::int64_t products, std::int64_t rows, std::int64_t cols,
    const std::function<bool(std::int64_t row, std::int64_t col)>& marked, double filled = 1.0);

}  // namespace kzoo::reference
