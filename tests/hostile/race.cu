// An update that is lost once in a while. On the GPU blocks race for an element of C; threads of
// the simulator take turns in a fixed order, so there the loss is staged.
#include "hostile.hpp"

namespace {

constexpr int kParts = 8;

#if KZOO_TARGET_DEVICE == KZOO_CUDA
__global__ void zero_kernel(hostile::gemm g) {
  if (hostile::row() < g.m && hostile::col() < g.n)
    g.c[hostile::row() * g.ldc + hostile::col()] = 0;
}

// Each part of k is added by a block of its own, without an atomic.
__global__ void race_kernel(hostile::gemm g) {
  const int row = hostile::row(), col = hostile::col();
  if (row >= g.m || col >= g.n) return;
  float sum = 0;
  for (int i = blockIdx.z; i < g.k; i += kParts) sum += g.a_at(row, i) * g.b_at(i, col);
  volatile float* c = g.c + row * g.ldc + col;
  *c = *c + g.alpha * sum;
}
#else
__global__ void race_kernel(hostile::gemm g, bool loses) {
  const int row = hostile::row(), col = hostile::col();
  if (row >= g.m || col >= g.n) return;
  float sum = 0;
  const bool here = loses && row == g.m / 3 && col == g.n / 2;
  for (int i = here ? kParts : 0; i < g.k; ++i) sum += g.a_at(row, i) * g.b_at(i, col);
  g.store(row, col, sum);
}
#endif

struct race {
  using types = kzoo::types<float>;
  static const char* supports(const kzoo_problem& p, const kzoo_device&) {
    return p.beta == 0 ? nullptr : "beta must be 0";
  }
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    const dim3 block(16, 16);
    dim3 grid(kzoo::ceil_div(g.n, 16), kzoo::ceil_div(g.m, 16));
#if KZOO_TARGET_DEVICE == KZOO_CUDA
    hostile::launch(zero_kernel, g, stream);
    grid.z = kParts;
    kzoo::launch({.grid = grid, .block = block, .stream = stream}, race_kernel, g);
#else
    constexpr int kOnceIn = 13;
    kzoo::launch({.grid = grid, .block = block, .stream = stream}, race_kernel, g,
                 ++runs % kOnceIn == 0);
#endif
  }
  mutable int runs = 0;
};

}  // namespace

KZOO_PLUGIN("race", "Loses an update now and then",
            kzoo::variant<race>("only", "right in most runs"));
