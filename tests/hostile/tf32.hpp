#pragma once
#include <kzoo/cuda.hpp>

namespace hostile {

// Drops the low 13 bits, as a tensor core does with an fp32 register.
__device__ inline float to_tf32(float x) {
  return __uint_as_float(__float_as_uint(x) & 0xffffe000u);
}

}  // namespace hostile
