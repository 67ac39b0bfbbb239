#pragma once
// A device's report on a buffer: changed words, errors visible by themselves, the digest.

#include "data/contents.hpp"

#include <kzoo/abi.h>

#include <cstdint>

namespace kzoo::data {

// Words changed by a kernel, inside and outside the matrix: number, lowest index; -1: none.
struct changes {
  std::int64_t inside = 0, outside = 0;
  std::int64_t first_inside = -1, first_outside = -1;

  constexpr bool any() const { return inside + outside > 0; }
};

// Number of errors in a result that show without its expected values.
struct survey {
  std::int64_t outside = 0;     // changed words of redzones and padding
  std::int64_t unwritten = 0;   // elements that still hold their poison
  std::int64_t not_finite = 0;  // elements

  constexpr bool clean() const { return outside + unwritten + not_finite == 0; }
};

// A buffer's digest is the sum of this over all its words, mod 2^64, ignoring the sign of zeros.
// Equal buffers have equal digests; different buffers practically never do.
constexpr std::uint64_t digest_term(const matrix& x, std::int64_t index, word_bits bits) {
  return hash(unsigned_zero(x.type, bits), index);
}

// Result of one pass over a buffer.
struct reading {
  std::uint64_t digest = 0;
  data::survey survey;
};

}  // namespace kzoo::data
