#pragma once
// WMMA fragments for each element type: 16 x 16 of C, and kFragmentK steps along K at a time.

#include <kzoo/plugin.hpp>
#include <kzoo/wmma.hpp>

#include <type_traits>

namespace wmma_tiles {

namespace wmma = nvcuda::wmma;

inline constexpr int kFragment = 16;  // rows and columns of the result

// What an element is to the tensor cores: its type in a fragment, and the fragment's size along K.
template <class E>
struct tensor_input {
  using type = E;
  static constexpr int kFragmentK = 16;
};
template <>
struct tensor_input<float> {
  using type = wmma::precision::tf32;
  static constexpr int kFragmentK = 8;
};

// kKMajor: rows of the tile lie along K (A not transposed, B transposed).
template <class E, class Use, class... Layout>
using fragment = wmma::fragment<Use, kFragment, kFragment, tensor_input<E>::kFragmentK,
                                typename tensor_input<E>::type, Layout...>;
template <class E, bool kKMajor>
using fragment_a =
    fragment<E, wmma::matrix_a, std::conditional_t<kKMajor, wmma::row_major, wmma::col_major>>;
template <class E, bool kKMajor>
using fragment_b =
    fragment<E, wmma::matrix_b, std::conditional_t<kKMajor, wmma::col_major, wmma::row_major>>;
template <class E>
using fragment_c =
    wmma::fragment<wmma::accumulator, kFragment, kFragment, tensor_input<E>::kFragmentK, float>;

// Tensor cores drop the low bits of a float. Rounding them first halves the error and removes its
// bias.
template <class Fragment>
__device__ __forceinline__ void round_inputs(Fragment& f) {
  if constexpr (sizeof(f.x[0]) == sizeof(float)) {
#pragma unroll
    for (int i = 0; i < f.num_elements; ++i) f.x[i] = wmma::__float_to_tf32(f.x[i]);
  }
}

}  // namespace wmma_tiles
