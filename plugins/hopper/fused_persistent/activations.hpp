#pragma once
// Activations with one tanh each, which Hopper has as an instruction. Its 11 bits are what a C of
// 16-bit elements needs.

#include <kzoo/cuda.hpp>

#include <cmath>

namespace fused_persistent {

// On the GPU with a relative error of 2^-11.
__host__ __device__ __forceinline__ float fast_tanh(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return std::tanh(x);
#endif
}

// x / (1 + exp(-x)), since 1 / (1 + exp(-x)) = (1 + tanh(x/2)) / 2.
__host__ __device__ __forceinline__ float silu(float x) {
  const float half = 0.5f * x;
  return half + half * fast_tanh(half);
}

// x/2 (1 + tanh(x (linear + cubic x^2)))
struct gelu {
  float linear, cubic;

  __host__ __device__ __forceinline__ float operator()(float x) const {
    const float half = 0.5f * x;
    return half + half * fast_tanh(x * (linear + cubic * (x * x)));
  }
};

// sqrt(2/pi) (x + 0.044715 x^3): the definition.
inline constexpr gelu kGeluTanh{0.79788456f, 0.035677408f};
// x Phi(x): the two numbers with the least error at all x, 1.4e-4 |x|. Those above have 1.8e-4.
inline constexpr gelu kGelu{0.79880075f, 0.03528241f};

}  // namespace fused_persistent
