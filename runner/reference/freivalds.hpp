#pragma once
// All of C checked at the cost of reading it (Freivalds 1977): C = A B exactly if and, but for one
// chance in 2^38, only if C x = A (B x) for a random x. On whole numbers both sides are exact
// mod 2^64, so a row that differs is wrong, however little.

#include "core/problem.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kzoo::reference {

// A problem of the same shape whose C is exact in every element type: alpha = 1, beta = 0, signs.
problem exact_companion(problem p);

// For each row of A the sum over k of a (B x), with x = hash(key, column), mod 2^64: what
// devices::backend::fold_rows finds in a right C. `p` is an exact companion.
std::vector<std::uint64_t> fold_of_product(const problem& p, std::uint64_t key);

// "128 of 4096 rows of C are not exact: rows 64 to 191", or "".
std::string compare_folds(std::span<const std::uint64_t> expected,
                          std::span<const std::uint64_t> got);

}  // namespace kzoo::reference
