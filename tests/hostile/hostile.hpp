#pragma once
// Shared by the misbehaving kernels: a correct GEMM with one thread per element of C.

#include <kzoo/plugin.hpp>

namespace hostile {

using gemm = kzoo::gemm<float>;

__device__ inline int row() { return blockIdx.y * blockDim.y + threadIdx.y; }
__device__ inline int col() { return blockIdx.x * blockDim.x + threadIdx.x; }

// The first `k` terms of the sum.
__device__ inline float dot(const gemm& g, int row, int col, int k) {
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += g.a_at(row, i) * g.b_at(i, col);
  return sum;
}

__device__ inline void store_product(const gemm& g, int row, int col) {
  g.store(row, col, dot(g, row, col, g.k));
}

// Device memory that is never freed.
template <class T>
T* never_freed(int count) {
#if KZOO_TARGET_DEVICE == KZOO_CUDA
  T* all = nullptr;
  cudaMalloc(&all, sizeof(T) * static_cast<std::size_t>(count));
  return all;
#else
  return new T[static_cast<std::size_t>(count)]{};
#endif
}

// A thread for each element of C, in blocks of 16 x 16.
template <class T, class... Parameters, class... Arguments>
void launch(void (*kernel)(kzoo::gemm<T>, Parameters...), const kzoo::gemm<T>& g,
            kzoo::stream_t stream, Arguments... arguments) {
  const dim3 grid(kzoo::ceil_div(g.n, 16), kzoo::ceil_div(g.m, 16));
  kzoo::launch({.grid = grid, .block = dim3(16, 16), .stream = stream}, kernel, g,
               Parameters(arguments)...);
}

template <class Trick>
__global__ void per_element_kernel(gemm g) {
  if (row() < g.m && col() < g.n) Trick::element(g, row(), col());
}

// A variant whose misbehaviour is in element(g, row, col), which stores an element of C.
template <class Trick>
struct per_element {
  using types = kzoo::types<float>;
  void run(const gemm& g, kzoo::stream_t stream) const {
    launch(per_element_kernel<Trick>, g, stream);
  }
};

struct honest : per_element<honest> {
  static __device__ void element(const gemm& g, int row, int col) { store_product(g, row, col); }
};

}  // namespace hostile
