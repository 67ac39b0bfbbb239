// The kernels that measure peaks, but for wgmma.cu, and an ordinary GEMM.

#include "devices/cuda/runtime.hpp"
#include "microbenchmarks/cuda/device_side.cuh"
#include "microbenchmarks/measure.hpp"

#include <type_traits>

namespace kzoo::microbenchmarks::cuda {
namespace {

// FMAs on registers, on all SMs at full occupancy.

constexpr int kPairs = 8;   // independent pairs per thread
constexpr int kSteps = 16;  // per repetition, unrolled: the overhead of the loop is negligible

template <class T>
__device__ T random_value(const busy_arguments& a, std::uint32_t which) {
  return T(random_fraction(a, which));
}
template <>
__device__ std::uint32_t random_value(const busy_arguments& a, std::uint32_t which) {
  return random_bits(a, which);
}

// Each pair (x, y) rotates, nearly on a circle, so its numbers neither converge nor grow over any
// number of steps. Integers wrap, and no step loses a bit with any factors.
template <class T>
__global__ void __launch_bounds__(kBlockThreads) fma_kernel(busy_arguments a) {
  const stopwatch watch(a.clock);
  T x[kPairs], y[kPairs];
#pragma unroll
  for (int i = 0; i < kPairs; ++i) {
    x[i] = random_value<T>(a, 2 * i);
    y[i] = random_value<T>(a, 2 * i + 1);
  }
  const T turn = random_value<T>(a, 2 * kPairs);
  const T back = std::is_integral_v<T> ? random_value<T>(a, 2 * kPairs + 1) : -turn;
#pragma unroll 1
  for (int r = 0; r < a.repetitions; ++r) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int i = 0; i < kPairs; ++i) x[i] = turn * y[i] + x[i];
#pragma unroll
      for (int i = 0; i < kPairs; ++i) y[i] = back * x[i] + y[i];
    }
  }
  T sum{};
#pragma unroll
  for (int i = 0; i < kPairs; ++i) sum += x[i] + y[i];
  if (std::uint32_t(sum) == kNever) *a.sink = kNever;
  watch.stop();
}

template <class T>
busy_kernel with_fma(roofline::resource r, const char* name) {
  return {r, name, reinterpret_cast<const void*>(&fma_kernel<T>), kBlockThreads,
          2.0 * kBlockThreads * kSteps * 2 * kPairs};
}

}  // namespace

std::vector<busy_kernel> arithmetic_kernels() {
  return {with_fma<float>(roofline::resource::fp32, "FFMA"),
          with_fma<double>(roofline::resource::fp64, "DFMA"),
          with_fma<std::uint32_t>(roofline::resource::int32, "IMAD")};
}

namespace {

// Reads and copies at full memory bandwidth; at the L2's bandwidth if the buffer fits in it.

constexpr int kAhead = 4;  // 16-byte accesses in flight per thread
constexpr std::int64_t kTile = kBlockThreads * kAhead;

// Calls body(index of this thread's first vector) for each tile of the block. Each repetition takes
// other tiles, so that they are not in the L1.
template <class Body>
__device__ void for_each_tile(const busy_arguments& a, int repetition, const Body& body) {
  const std::int64_t first = (std::int64_t(blockIdx.x) + repetition) % gridDim.x;
  for (std::int64_t tile = first; (tile + 1) * kTile <= a.vectors; tile += gridDim.x)
    body(tile * kTile + threadIdx.x);
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

namespace {

// Tensor cores through mma.sync: warp-wide, with all operands in registers.

constexpr int kTiles = 8;  // independent accumulator tiles per warp
constexpr int kTimes = 4;

// c += a b for a tile of 16 x 8 accumulators, with kK products each.
template <class Format>
struct mma;
#define KZOO_MMA(format, k, words)                                                      \
  template <>                                                                           \
  struct mma<format> {                                                                  \
    static constexpr int kK = k;                                                        \
    static __device__ void add(float (&c)[4], const std::uint32_t (&a)[4],              \
                               const std::uint32_t (&b)[2]) {                           \
      asm volatile("mma.sync.aligned." words                                            \
                   " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"   \
                   : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                     \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])); \
    }                                                                                   \
  };
// A macro, because the name of an instruction must be a string literal.
KZOO_MMA(tf32, 8, "m16n8k8.row.col.f32.tf32.tf32.f32")
KZOO_MMA(fp16, 16, "m16n8k16.row.col.f32.f16.f16.f32")
KZOO_MMA(bf16, 16, "m16n8k16.row.col.f32.bf16.bf16.f32")
#undef KZOO_MMA

template <class Format>
__global__ void __launch_bounds__(kBlockThreads) mma_kernel(busy_arguments args) {
  const stopwatch watch(args.clock);
  // The second A is the negated first, so accumulators do not grow over any number of repetitions.
  constexpr std::uint32_t kSigns = mma<Format>::kK == 8 ? 0x80000000u : 0x80008000u;
  std::uint32_t a[2][4], b[4][2];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    a[0][i] = Format::random(args, i);
    a[1][i] = a[0][i] ^ kSigns;
    b[i][0] = Format::random(args, 4 + 2 * i);
    b[i][1] = Format::random(args, 5 + 2 * i);
  }
  float c[kTiles][4];
#pragma unroll
  for (int i = 0; i < 4 * kTiles; ++i) c[i / 4][i % 4] = random_fraction(args, 64 + i);
#pragma unroll 1
  for (int r = 0; r < args.repetitions; ++r) {
#pragma unroll
    for (int i = 0; i < 2 * kTimes * kTiles; ++i)
      mma<Format>::add(c[i % kTiles], a[i / kTiles % 2], b[i % 4]);
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 4 * kTiles; ++i) sum += c[i / 4][i % 4];
  if (__float_as_uint(sum) == kNever) *args.sink = kNever;
  watch.stop();
}

template <class Format>
busy_kernel with_mma(roofline::resource r, const char* name) {
  constexpr int kWarps = kBlockThreads / 32;
  return {r, name, reinterpret_cast<const void*>(&mma_kernel<Format>), kBlockThreads,
          2.0 * 16 * 8 * mma<Format>::kK * 2 * kTimes * kTiles * kWarps};
}

}  // namespace

std::vector<busy_kernel> mma_kernels() {
  return {with_mma<tf32>(roofline::resource::tf32, "mma.sync m16n8k8"),
          with_mma<fp16>(roofline::resource::fp16, "mma.sync m16n8k16"),
          with_mma<bf16>(roofline::resource::bf16, "mma.sync m16n8k16")};
}

}  // namespace kzoo::microbenchmarks::cuda

namespace kzoo::microbenchmarks {
namespace {

// An ordinary GEMM with a 32 x 32 tile of C per block in shared memory, without overlap.

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
    for (int j = 0; j < kTile; ++j)
      for (int i = 0; i < kOutputs; ++i) sums[i] += tile_a[y + i * kThreadRows][j] * tile_b[j][x];
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
