#pragma once
// Deduces the likely cause of a wrong result from a few wrong elements.

#include "reference/scan.hpp"

#include <string>

namespace kzoo::reference {

// Element (row, col) of the expected C, computed alone: k FMAs and 2 k hashes.
double exact_element(const problem& p, std::int64_t row, std::int64_t col);

// "alpha is left out", "only the first 504 of 511 terms along k are summed", or "". Names a cause
// only if it explains all of `found`'s wrong_samples to within rounding.
std::string likely_cause(const expected_result& t, kzoo_precision declared, const scanned& found);

}  // namespace kzoo::reference
