// Tensor cores through mma.sync: warp-wide, with all operands in registers.

#include "microbenchmarks/cuda/device_side.cuh"

namespace kzoo::microbenchmarks::cuda {
namespace {

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
