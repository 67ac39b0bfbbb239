// Tensor cores through CUDA's WMMA: fragments of a whole warp. Under nvcc this is CUDA's
// nvcuda::wmma. Under the host compiler the simulator provides it for __half, __nv_bfloat16 and
// TF32.
#pragma once

#include <kzoo/cuda.hpp>

#if !defined(KZOO_REAL_CUDA)
#include <kzoo/sim/wmma.hpp>
#elif defined(__CUDACC__)  // device code: not in a host file for cuda

#include <mma.h>

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
// Tensor cores before sm_80 do not take bf16: a kernel for it compiles, and must not run.
namespace nvcuda::wmma {
template <class Use, int m, int n, int k, class Layout>
class fragment<Use, m, n, k, __nv_bfloat16, Layout> {};
template <class Use, class Layout>
__device__ void load_matrix_sync(fragment<Use, 16, 16, 16, __nv_bfloat16, Layout>&,
                                 const __nv_bfloat16*, unsigned) {
  __trap();
}
template <class LayoutA, class LayoutB>
__device__ void mma_sync(fragment<accumulator, 16, 16, 16, float>&,
                         const fragment<matrix_a, 16, 16, 16, __nv_bfloat16, LayoutA>&,
                         const fragment<matrix_b, 16, 16, 16, __nv_bfloat16, LayoutB>&,
                         const fragment<accumulator, 16, 16, 16, float>&) {
  __trap();
}
}  // namespace nvcuda::wmma
#endif

namespace kzoo {

// nvcuda::wmma::load_matrix_sync of a tile in shared memory. For __nv_bfloat16 and TF32, nvcc 13.0
// does not infer the state space, unlike for __half. It uses generic 4-byte loads and rearranges
// them in registers. The overloads below name the state space.
template <class Fragment, class T>
__device__ __forceinline__ void load_from_shared(Fragment& f, const T* tile, unsigned row_length) {
  nvcuda::wmma::load_matrix_sync(f, tile, row_length);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
// The instruction behind load_matrix_sync, with the state space in its name.
#define KZOO_LOAD_FROM_SHARED(OPERAND, ORDER, K, INPUT, T, NAME)                               \
  __device__ __forceinline__ void load_from_shared(                                            \
      nvcuda::wmma::fragment<nvcuda::wmma::matrix_##OPERAND, 16, 16, K, INPUT,                 \
                             nvcuda::wmma::ORDER##_major>& f,                                  \
      const T* tile, unsigned row_length) {                                                    \
    auto* x = reinterpret_cast<unsigned*>(f.x);                                                \
    asm volatile("wmma.load." #OPERAND ".sync.aligned." #ORDER ".m16n16k" #K ".shared." NAME   \
                 " {%0, %1, %2, %3}, [%4], %5;"                                                \
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])                              \
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(tile))), "r"(row_length) \
                 : "memory");                                                                  \
  }
KZOO_LOAD_FROM_SHARED(a, row, 16, __nv_bfloat16, __nv_bfloat16, "bf16")
KZOO_LOAD_FROM_SHARED(a, col, 16, __nv_bfloat16, __nv_bfloat16, "bf16")
KZOO_LOAD_FROM_SHARED(b, row, 16, __nv_bfloat16, __nv_bfloat16, "bf16")
KZOO_LOAD_FROM_SHARED(b, col, 16, __nv_bfloat16, __nv_bfloat16, "bf16")
KZOO_LOAD_FROM_SHARED(a, row, 8, nvcuda::wmma::precision::tf32, float, "tf32")
KZOO_LOAD_FROM_SHARED(a, col, 8, nvcuda::wmma::precision::tf32, float, "tf32")
KZOO_LOAD_FROM_SHARED(b, row, 8, nvcuda::wmma::precision::tf32, float, "tf32")
KZOO_LOAD_FROM_SHARED(b, col, 8, nvcuda::wmma::precision::tf32, float, "tf32")
#undef KZOO_LOAD_FROM_SHARED
#endif

}  // namespace kzoo

#endif
