#pragma once
// What a matrix element is to the tensor cores: its type in a fragment, and how far a fragment of
// 16 x 16 results goes along K.

#include <kzoo/plugin.hpp>
#include <kzoo/wmma.hpp>

namespace tensor {

namespace wmma = nvcuda::wmma;

inline constexpr int kFragment = 16;  // rows and columns of the result

template <class T>
struct tensor_input {
  using type = T;
  static constexpr int kDepth = 16;
};
template <>
struct tensor_input<float> {
  using type = wmma::precision::tf32;
  static constexpr int kDepth = 8;
};

// What a result is judged by: the sums are fp32, but a float becomes TF32.
template <class T>
inline constexpr kzoo_precision input_precision =
    kzoo::element_traits<T>::type == KZOO_F32 ? KZOO_COMPUTE_TF32
                                              : kzoo::element_traits<T>::precision;

template <class T>
using fragment_a = wmma::fragment<wmma::matrix_a, kFragment, kFragment, tensor_input<T>::kDepth,
                                  typename tensor_input<T>::type, wmma::row_major>;
template <class T>
using fragment_b = wmma::fragment<wmma::matrix_b, kFragment, kFragment, tensor_input<T>::kDepth,
                                  typename tensor_input<T>::type, wmma::row_major>;
template <class T>
using fragment_c =
    wmma::fragment<wmma::accumulator, kFragment, kFragment, tensor_input<T>::kDepth, float>;

// Tensor cores cut the low bits off a float; rounding them away first halves the error and takes
// its bias.
template <class Fragment>
__device__ __forceinline__ void round_inputs(Fragment& f) {
  if constexpr (sizeof(f.x[0]) == sizeof(float)) {
#pragma unroll
    for (int i = 0; i < f.num_elements; ++i) f.x[i] = wmma::__float_to_tf32(f.x[i]);
  }
}

}  // namespace tensor
