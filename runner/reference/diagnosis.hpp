#pragma once
// What a wrong result probably comes from, told from a handful of its elements.

#include "reference/scan.hpp"

#include <string>

namespace kzoo::reference {

// Element (row, col) of C, computed on its own: k multiply-adds and 2 k hashes.
double exact_element(const problem& p, std::int64_t row, std::int64_t col);

// "alpha is left out", "only the first 504 of 511 terms along k are summed", or empty. Claims
// something only where it explains every one of the findings' suspects to within rounding.
std::string likely_cause(const expected_result& t, kzoo_precision declared, const findings& found);

}  // namespace kzoo::reference
