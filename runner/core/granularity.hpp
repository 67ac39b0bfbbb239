#pragma once
// The sizes that a variant says it takes.

#include "core/problem.hpp"

#include <cstdint>
#include <string>

namespace kzoo {

// M, N and K are multiples of these; each row starts at a multiple of row_bytes.
struct size_granularity {
  std::int64_t m = 1, n = 1, k = 1, row_bytes = 1;
};

// Common multiples of both. Too large numbers are cut off: no problem has such sizes.
size_granularity both_of(const size_granularity& x, const size_granularity& y);

// The next larger problem that satisfies `g`.
problem rounded_up(problem p, const size_granularity& g);

// Bytes of the smallest element type; rows of all matrices are counted in it.
std::int64_t narrowest(const element_types& types);

// The size that breaks `g`: "M a multiple of 128, not 100"; "": none.
std::string broken_by(const size_granularity& g, const problem& p);

}  // namespace kzoo
