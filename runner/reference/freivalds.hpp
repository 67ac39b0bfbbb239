#pragma once
// Checks all of C at the cost of reading it once (Freivalds 1977): for a random vector x,
// C x = A (B x) if C = A B, and otherwise only with a probability of 2^-38. On integers both sides
// are exact mod 2^64, so any row that differs is wrong, however small the error.

#include "core/problem.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kzoo::reference {

// A problem of the same shape whose C is exact in every element type: alpha = 1, beta = 0,
// fill::signs.
problem exact_companion(problem p);

// A (B x) mod 2^64, one value per row, with x[column] = hash(key, column): what
// devices::backend::fold_rows returns for a correct C. `p` is an exact_companion().
std::vector<std::uint64_t> fold_of_product(const problem& p, std::uint64_t key);

// "128 of 4096 rows of C are not exact: rows 64 to 191", or "".
std::string compare_folds(std::span<const std::uint64_t> expected,
                          std::span<const std::uint64_t> got);

}  // namespace kzoo::reference
