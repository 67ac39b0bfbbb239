// Reads and copies at full memory bandwidth; at the L2's bandwidth if the buffer fits in it.

#include "microbenchmarks/cuda/device_side.cuh"

namespace kzoo::microbenchmarks::cuda {
namespace {

constexpr int kAhead = 4;  // 16-byte accesses in flight per thread
constexpr std::int64_t kTile = kBlockThreads * kAhead;

// Calls body(index of this thread's first vector) for each tile of the block. Each repetition takes
// other tiles, so that they are not in the L1.
template <class Body>
__device__ void for_each_tile(const busy_arguments& a, int repetition, const Body& body) {
  const std::int64_t first = (std::int64_t(blockIdx.x) + repetition) % gridDim.x;
  for (std::int64_t tile = first; (tile + 1) * kTile <= a.vectors; tile += gridDim.x) {
    body(tile * kTile + threadIdx.x);
  }
}

__global__ void __launch_bounds__(kBlockThreads) read_kernel(busy_arguments a) {
  const stopwatch watch(a.clock);
  std::uint32_t sum = 0;
  for (int r = 0; r < a.repetitions; ++r) {
    for_each_tile(a, r, [&](std::int64_t at) {
      uint4 v[kAhead];
#pragma unroll
      for (int i = 0; i < kAhead; ++i) v[i] = __ldcg(a.from + at + i * kBlockThreads);
#pragma unroll
      for (int i = 0; i < kAhead; ++i) sum += v[i].x ^ v[i].y ^ v[i].z ^ v[i].w;
    });
  }
  if (sum == kNever) *a.sink = kNever;
  watch.stop();
}

__global__ void __launch_bounds__(kBlockThreads) copy_kernel(busy_arguments a) {
  const stopwatch watch(a.clock);
  for (int r = 0; r < a.repetitions; ++r) {
    for_each_tile(a, r, [&](std::int64_t at) {
      uint4 v[kAhead];
#pragma unroll
      for (int i = 0; i < kAhead; ++i) v[i] = __ldcs(a.from + at + i * kBlockThreads);
#pragma unroll
      for (int i = 0; i < kAhead; ++i) __stcs(a.to + at + i * kBlockThreads, v[i]);
    });
  }
  watch.stop();
}

}  // namespace

std::vector<busy_kernel> memory_kernels() {
  return {{roofline::resource::read, "16-byte loads", reinterpret_cast<const void*>(&read_kernel),
           kBlockThreads, 0, 1},
          {roofline::resource::copy, "16-byte loads and stores",
           reinterpret_cast<const void*>(&copy_kernel), kBlockThreads, 0, 2},
          {roofline::resource::l2_read, "16-byte loads of a quarter of the L2",
           reinterpret_cast<const void*>(&read_kernel), kBlockThreads, 0, 1}};
}

}  // namespace kzoo::microbenchmarks::cuda
