#pragma once
// Findings of one pass over the C buffer, and the likely cause of a wrong result.

#include "reference/expected_result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kzoo::reference {

struct place {
  std::int64_t row = -1, col = -1;
};

// An element whose error is larger than allowed.
struct wrong_element {
  place at;
  double got = 0;
  std::uint64_t order = 0;  // a hash: the lowest form a random sample
};

// The number of elements with some property, and the first of them.
struct occurrences {
  std::int64_t count = 0;
  place first;

  void add(std::int64_t row, std::int64_t col) {
    if (count++ == 0) first = {row, col};
  }
  void add(const occurrences& later) {
    if (count == 0) first = later.first;
    count += later.count;
  }
};

struct scanned {
  std::int64_t changed_outside = 0, first_changed = -1;  // words, and an index of data/matrix.hpp
  occurrences unwritten, nan, infinite;
  occurrences lost;                 // other values where NaN or infinity is expected
  std::int64_t quieted_poison = 0;  // NaNs with the payload of the poison in C
  // Infinities where the expected value overflows too, and in rows without expected values.
  std::int64_t right_infinities = 0;
  occurrences unjudged_infinities;

  // About the finite elements in the rows that the expected result covers:
  std::int64_t compared = 0, nonzero = 0, out = 0;
  double max_abs_error = 0, max_rho = 0, squared_error = 0, squared_expected = 0;
  double squared_of_usual = 0;  // sum of squared errors over usual_errors::of(), if known
  double worst_of_allowed = -1, worst_error = 0, worst_expected = 0, worst_got = 0;
  place worst;
  std::vector<wrong_element> wrong_samples;  // at most kMaxWrongSamples, ascending by `order`

  static constexpr std::size_t kMaxWrongSamples = 8;

  // Root mean square of errors relative to usual ones.
  double of_usual() const;
};

// Element (row, col) of the expected C, computed alone: k FMAs and 2 k hashes.
double exact_element(const problem& p, std::int64_t row, std::int64_t col);

// "alpha is left out", "only the first 504 of 511 terms along k are summed". Names a cause only if
// it explains all of `found`'s wrong_samples to within rounding.
std::optional<std::string> likely_cause(const expected_result& t, kzoo_precision declared,
                                        const scanned& found);

}  // namespace kzoo::reference
