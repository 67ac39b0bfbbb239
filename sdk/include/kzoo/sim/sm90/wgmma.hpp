// wgmma (sm_90a) in the simulator. Behind wgmma.hpp. Products are computed as late as possible: by
// the wait for their group. Until then their accumulators contain NaN. Products are exact, and
// added to the accumulator sequentially along K, for all types.
#pragma once

#include <cstdint>
#include <source_location>

namespace kzoo::sim::sm90 {

using here = std::source_location;

enum class operand_type : unsigned char { f16, bf16, tf32, e4m3, e5m2 };

// The instruction of a thread.
struct wgmma_call {
  int n;
  operand_type a, b;
  bool a_mn_major, b_mn_major, accumulate;
  std::uint64_t a_bits, b_bits;  // descriptors
  const unsigned* fragment;      // A in four registers, or null
  float* sums;                   // n / 2
};

void wgmma(const wgmma_call& call, here where);
void wgmma_fence(here where);
void wgmma_commit(here where);
void wgmma_wait(unsigned pending, here where);

}  // namespace kzoo::sim::sm90
