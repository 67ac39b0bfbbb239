#pragma once
// The sizes that a variant says it takes.

#include "core/problem.hpp"

#include <cstdint>
#include <string>

namespace kzoo {

// M, N and K that are multiples of these, and rows that each start at a multiple of so many bytes.
struct size_granularity {
  std::int64_t m = 1, n = 1, k = 1, row_bytes = 1;
};

// One with multiples of both. A number too large for any problem is as good as another.
size_granularity both_of(const size_granularity& x, const size_granularity& y);

// The next larger problem that keeps it.
problem rounded_up(problem p, const size_granularity& g);

// Bytes of the smallest element: what rows of all matrices are counted in.
std::int64_t narrowest(const element_types& types);

// Which size of the problem is not as it says: "M a multiple of 128, not 100"; "": all are.
std::string broken_by(const size_granularity& g, const problem& p);

}  // namespace kzoo
