#pragma once
#include <kzoo/cuda.hpp>

namespace hostile {

// As a tensor core reads an fp32 register: the low 13 bits are dropped.
__device__ inline float to_tf32(float x) {
  return __uint_as_float(__float_as_uint(x) & 0xffffe000u);
}

}  // namespace hostile
