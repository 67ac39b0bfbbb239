// A whole plugin: copy it, rename it, make it fast.
#include <kzoo/plugin.hpp>

// C = alpha A B + beta C. The same text runs on the GPU and in the simulator.
__global__ void mine_kernel(kzoo::gemm<float> g) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  float sum = 0;
  for (int i = 0; i < g.k; ++i) sum += g.a_at(row, i) * g.b_at(i, col);
  g.store(row, col, sum);  // alpha * sum + beta * C; does not read C when beta is 0
}

struct mine {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    const dim3 block(16, 16), grid(kzoo::ceil_div(g.n, 16), kzoo::ceil_div(g.m, 16));
    kzoo::launch({.grid = grid, .block = block, .stream = stream}, mine_kernel, g);
  }
};

KZOO_PLUGIN("mine", "My first kernel", kzoo::variant<mine>("16x16", "one thread per element"));
