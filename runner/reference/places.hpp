#pragma once
// Locates wrong elements: names of places and patterns, and a map of C.

#include "data/contents.hpp"
#include "data/matrix.hpp"
#include "reference/judge.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kzoo::reference {

// "row 3, column 17"; in a batch "product 2, row 3, column 17". `row` counts over the batch.
std::string place_name(const data::matrix& x, std::int64_t row, std::int64_t col);

// Describes an index outside the matrix: "1 past its last element", "3 before its first element",
// "in the padding: row 2, column 70 (A has columns 0 to 64)", "7 past the last row of product 2".
std::string outside_place(const data::matrix& x, std::string_view name, std::int64_t index);

// The reason for a verdict on writes to or around an input, if there were any.
std::optional<std::string> tampering(const data::matrix& x, std::string_view name,
                                     const data::changes& found);
// The reason if a kernel restored what it had overwritten at the index; a negative one is none.
std::optional<std::string> restored(const data::matrix& x, std::string_view name,
                                    std::int64_t index);

// Names the pattern that some elements of a matrix form, which often reveals the bug:
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

// A map of where C is wrong, drawn in characters, of a whole C buffer as judge() takes it. Rows
// outside the expected result are only searched for unwritten or non-finite elements.
error_map map_errors(const expected_result& t, kzoo_precision declared,
                     std::span<const std::byte> words);

// The picture, its legend, and a small table of the first differing elements.
std::vector<std::string> lines_of(const error_map& map);

}  // namespace kzoo::reference
