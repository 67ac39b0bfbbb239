// An ordinary GEMM with a 32 x 32 tile of C per block in shared memory, without overlap.

#include "devices/cuda/check.hpp"
#include "microbenchmarks/process_medians.hpp"

namespace kzoo::microbenchmarks {
namespace {

constexpr int kTile = 32, kThreadRows = 8, kOutputs = kTile / kThreadRows;

__global__ void product_kernel(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const std::int64_t row = blockIdx.y * kTile + y, col = blockIdx.x * kTile + x;
  float sums[kOutputs] = {};
  for (int k = 0; k < n; k += kTile) {
    for (int i = 0; i < kOutputs; ++i) {
      tile_a[y + i * kThreadRows][x] = a[(row + i * kThreadRows) * n + k + x];
      tile_b[y + i * kThreadRows][x] = b[std::int64_t{k + y + i * kThreadRows} * n + col];
    }
    __syncthreads();
    for (int j = 0; j < kTile; ++j) {
      for (int i = 0; i < kOutputs; ++i) sums[i] += tile_a[y + i * kThreadRows][j] * tile_b[j][x];
    }
    __syncthreads();
  }
  for (int i = 0; i < kOutputs; ++i) c[(row + i * kThreadRows) * n + col] = sums[i];
}

}  // namespace

void enqueue_product(const float* a, const float* b, float* c, int n, void* stream) {
  const dim3 grid(unsigned(n / kTile), unsigned(n / kTile)), block(kTile, kThreadRows);
  product_kernel<<<grid, block, 0, static_cast<cudaStream_t>(stream)>>>(a, b, c, n);
  devices::cuda::check(cudaGetLastError(), "a product");
}

}  // namespace kzoo::microbenchmarks
