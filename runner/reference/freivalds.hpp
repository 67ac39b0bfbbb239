#pragma once
// Checks all of C at the cost of reading it once (Freivalds 1977): for a random vector x,
// C x = A (B x) if C = A B. On integers both sides are exact mod 2^64, so that a row that differs,
// by however little, passes with a probability of 2^-38. On real numbers, with an x of -1 and 1, a
// row passes that differs by less than rounding errors could.

#include "core/problem.hpp"
#include "data/digest.hpp"
#include "reference/expected_result.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kzoo::reference {

// A problem of the same shape whose C is exact in every element type: alpha = 1, beta = 0,
// fill::signs.
problem exact_companion(problem p);

// A (B x) mod 2^64, one value per row of each product, with x[column] = hash(key, column): the
// row_sums::exact of a correct C. `p` is an exact_companion().
std::vector<std::uint64_t> exact_sums(const problem& p, std::uint64_t key);

// The sum of one row of C with x[column] = sign_of(key, column), and the sums over the row of the
// magnitudes in the error bound. That of |C| is estimated as twice what it is for zero-mean data.
struct row_sum {
  double value = 0;
  sizes magnitudes{};
};
// One per row of each product, for a floating type: the row_sums::rounded of a C without rounding
// errors.
std::vector<row_sum> rounded_sums(const problem& p, std::uint64_t key);

// "128 of 4096 rows of C are not exact: rows 64 to 191", or "".
std::string compare_exact(const problem& p, std::span<const std::uint64_t> expected,
                          std::span<const data::row_sums> got);
// "... of 4096 rows of C have a sum that differs by more than fp32 allows: ...", or "".
std::string compare_rounded(const problem& p, kzoo_precision declared,
                            std::span<const row_sum> expected, std::span<const data::row_sums> got);

}  // namespace kzoo::reference
