#pragma once
// WMMA fragments for each element type: 16 x 16 results, and so many steps along K at a time.

#include <kzoo/plugin.hpp>
#include <kzoo/wmma.hpp>

namespace tensor {

namespace wmma = nvcuda::wmma;

inline constexpr int kFragment = 16;  // rows and columns of the result

// What an element is to the tensor cores: its type in a fragment, and the fragment's size along K.
template <class T>
struct tensor_input {
  using type = T;
  static constexpr int kFragmentK = 16;
};
template <>
struct tensor_input<float> {
  using type = wmma::precision::tf32;
  static constexpr int kFragmentK = 8;
};

// What a result is judged by: accumulators are fp32, but a float input becomes TF32.
template <class T>
inline constexpr kzoo_precision input_precision =
    kzoo::element_traits<T>::type == KZOO_F32 ? KZOO_COMPUTE_TF32
                                              : kzoo::element_traits<T>::precision;

template <class T, class Use, class... Layout>
using fragment = wmma::fragment<Use, kFragment, kFragment, tensor_input<T>::kFragmentK,
                                typename tensor_input<T>::type, Layout...>;
template <class T>
using fragment_a = fragment<T, wmma::matrix_a, wmma::row_major>;
template <class T>
using fragment_b = fragment<T, wmma::matrix_b, wmma::row_major>;
template <class T>
using fragment_c =
    wmma::fragment<wmma::accumulator, kFragment, kFragment, tensor_input<T>::kFragmentK, float>;

// Tensor cores drop the low bits of a float. Rounding them first halves the error and removes its
// bias.
template <class Fragment>
__device__ __forceinline__ void round_inputs(Fragment& f) {
  if constexpr (sizeof(f.x[0]) == sizeof(float)) {
#pragma unroll
    for (int i = 0; i < f.num_elements; ++i) f.x[i] = wmma::__float_to_tf32(f.x[i]);
  }
}

}  // namespace tensor
