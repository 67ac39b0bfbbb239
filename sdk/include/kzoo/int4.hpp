#pragma once
// A B with int4 elements, as weights of quantised networks: signed integers from -8 to 7, two in a
// byte, usually with block scales (block_scales.hpp). Types: kzoo::mixed<__nv_bfloat16,
// kzoo::int4x2, __nv_bfloat16>.

#include <kzoo/cuda.hpp>
#include <kzoo/element_traits.hpp>
#include <kzoo/gemm.hpp>

#include <cstddef>
#include <cstdint>

namespace kzoo {

// Two neighbours in a stored row of B; the element with the even index is in the low four bits.
struct int4x2 {
  std::uint8_t bits;  // as in memory

  // Element `i`, 0 or 1, as an int.
  __host__ __device__ int operator[](int i) const {
    return static_cast<int>(static_cast<unsigned>(bits) << (i == 0 ? 28 : 24)) >> 28;
  }
};
template <>
struct element_traits<int4x2> : element_traits_of<KZOO_I4> {};

// Element (k, col) of B. ldb counts elements, two per byte.
template <class Gemm>
__host__ __device__ int weight(const Gemm& g, int k, int col) {
  const std::ptrdiff_t at = Gemm::kBTransposed ? col * g.ldb + k : k * g.ldb + col;
  return g.b[at / 2][static_cast<int>(at % 2)];
}

}  // namespace kzoo
