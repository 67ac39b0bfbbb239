#pragma once
// B with elements of 4 bits, as the weights of quantised networks: signed integers from -8 to 7,
// two in a byte, usually with a scale for each block of them (block_scales.hpp). Types are
// kzoo::mixed<__nv_bfloat16, kzoo::int4x2, __nv_bfloat16>.

#include <kzoo/cuda.hpp>
#include <kzoo/element_traits.hpp>
#include <kzoo/gemm.hpp>

#include <cstddef>
#include <cstdint>

namespace kzoo {

// Two neighbours in a row of B as it is stored: the one with the even index in the low four bits.
struct int4x2 {
  std::uint8_t bits;

  // Of 0 or 1.
  __host__ __device__ int operator[](int i) const {
    return static_cast<int>(static_cast<unsigned>(bits) << (i == 0 ? 28 : 24)) >> 28;
  }
};
template <>
struct element_traits<int4x2> : element_traits_of<KZOO_I4> {};

// Element (k, col) of such a B. ldb counts elements, and so twice the bytes.
template <class Gemm>
__host__ __device__ int weight(const Gemm& g, int k, int col) {
  const std::ptrdiff_t at = Gemm::kBTransposed ? col * g.ldb + k : k * g.ldb + col;
  return g.b[at / 2][static_cast<int>(at % 2)];
}

}  // namespace kzoo
