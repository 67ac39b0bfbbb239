// Source D0's fifth kernel: built for 256 threads, launched with 32 x 32, so it never starts.
#include "hostile.hpp"

namespace {

constexpr int kTile = 128, kOutputs = 8, kThreadsX = kTile / kOutputs;
constexpr int kThreads = kThreadsX * kThreadsX;

__global__ void __launch_bounds__(kThreads) launch_1024_kernel(hostile::gemm g) {
  const int row = blockIdx.y * kTile + threadIdx.y, col = blockIdx.x * kTile + threadIdx.x;
  float sum[kOutputs][kOutputs] = {};
  for (int k = 0; k < g.k; ++k) {
    for (int i = 0; i < kOutputs; ++i) {
      for (int j = 0; j < kOutputs; ++j) {
        sum[i][j] += g.a_or_zero(row + i * kThreadsX, k) * g.b_or_zero(k, col + j * kThreadsX);
      }
    }
  }
  for (int i = 0; i < kOutputs; ++i) {
    for (int j = 0; j < kOutputs; ++j) {
      g.store_inside(row + i * kThreadsX, col + j * kThreadsX, sum[i][j]);
    }
  }
}

struct launch_1024 {
  using types = kzoo::types<float>;
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    const dim3 grid(kzoo::ceil_div(g.n, kTile), kzoo::ceil_div(g.m, kTile)), block(32, 32);
    kzoo::launch({.grid = grid, .block = block, .max_threads = kThreads, .stream = stream},
                 launch_1024_kernel, g);
  }
};

}  // namespace

KZOO_PLUGIN("launch_1024", "Asks for four times the threads that its kernel is built for",
            kzoo::variant<launch_1024>("only", "must be refused, with the reason"));
