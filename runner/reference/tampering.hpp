#pragma once
// Says where a kernel wrote to memory that it must not write to.

#include "data/digest.hpp"
#include "data/matrix.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace kzoo::reference {

// "row 3, column 17"; in a batch "product 2, row 3, column 17". `row` counts over the batch.
std::string place_name(const data::matrix& x, std::int64_t row, std::int64_t col);

// Describes an index outside the matrix: "1 past its last element", "3 before its first element",
// "in the padding: row 2, column 70 (A has columns 0 to 64)", "7 past the last row of product 2".
std::string outside_place(const data::matrix& x, std::string_view name, std::int64_t index);

// The reason for a verdict on writes to or around an input; "" if there were none.
std::string tampering(const data::matrix& x, std::string_view name, const data::changes& found);
// The reason if a kernel restored what it had overwritten at the index.
std::string restored(const data::matrix& x, std::string_view name, std::int64_t index);

}  // namespace kzoo::reference
