// Hopper's tensor cores through wgmma: per warpgroup, with A and B in shared memory. Built for
// sm_90a only, whatever CMAKE_CUDA_ARCHITECTURES is.

#include "microbenchmarks/cuda/device_side.cuh"

namespace kzoo::microbenchmarks::cuda {
namespace {

constexpr int kThreads = 128;  // a warpgroup
constexpr int kM = 64, kN = 256;
constexpr int kAccumulators = kM * kN / kThreads;  // per thread
constexpr int kRowBytes = 128;                     // a row of A, or a column of B: four k steps
constexpr int kSteps = 4, kStepBytes = 32;
constexpr int kTimes = 4;

// An operand's shared-memory descriptor: 128-byte rows and swizzle, in groups of eight.
__device__ std::uint64_t descriptor(const void* shared) {
  constexpr std::uint64_t kGroup = 8 * kRowBytes, kSwizzle128 = 1;
  const auto address = static_cast<std::uint64_t>(__cvta_generic_to_shared(shared));
  return (address & 0x3ffff) >> 4 | std::uint64_t{1} << 16 | (kGroup >> 4) << 32 |
         kSwizzle128 << 62;
}

// c += kSign a b for 64 x 256 accumulators, over 32 bytes of each operand along K; asynchronous.
template <class Format, int kSign>
struct wgmma;
#define KZOO_ACCUMULATORS_8(c, i)                                                             \
  "+f"(c[i]), "+f"(c[i + 1]), "+f"(c[i + 2]), "+f"(c[i + 3]), "+f"(c[i + 4]), "+f"(c[i + 5]), \
      "+f"(c[i + 6]), "+f"(c[i + 7])
#define KZOO_ACCUMULATORS_32(c, i)                                                          \
  KZOO_ACCUMULATORS_8(c, i), KZOO_ACCUMULATORS_8(c, i + 8), KZOO_ACCUMULATORS_8(c, i + 16), \
      KZOO_ACCUMULATORS_8(c, i + 24)
#define KZOO_WGMMA(format, words, layouts)                                                    \
  template <int kSign>                                                                        \
  struct wgmma<format, kSign> {                                                               \
    static __device__ void add(float (&c)[kAccumulators], std::uint64_t a, std::uint64_t b) { \
      asm volatile("wgmma.mma_async.sync.aligned." words " {" KZOO_ALL_ACCUMULATORS           \
                   "}, %128, %129, 1, %130, 1" layouts ";"                                    \
                   : KZOO_ACCUMULATORS_32(c, 0), KZOO_ACCUMULATORS_32(c, 32),                 \
                     KZOO_ACCUMULATORS_32(c, 64), KZOO_ACCUMULATORS_32(c, 96)                 \
                   : "l"(a), "l"(b), "n"(kSign));                                             \
    }                                                                                         \
  };
#define KZOO_ALL_ACCUMULATORS                                                                    \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                       \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "             \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "             \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "             \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "             \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "             \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
// Macros, because the name of an instruction and its list of registers must be string literals.
KZOO_WGMMA(tf32, "m64n256k8.f32.tf32.tf32", "")
KZOO_WGMMA(fp16, "m64n256k16.f32.f16.f16", ", 0, 0")
KZOO_WGMMA(bf16, "m64n256k16.f32.bf16.bf16", ", 0, 0")
#undef KZOO_WGMMA
#undef KZOO_ALL_ACCUMULATORS
#undef KZOO_ACCUMULATORS_32
#undef KZOO_ACCUMULATORS_8

template <class Format>
__global__ void __launch_bounds__(kThreads) wgmma_kernel(busy_arguments args) {
  const stopwatch watch(args.clock);
  constexpr int kWords = kRowBytes / 4;
  __shared__ __align__(1024) std::uint32_t a[kM * kWords], b[kN * kWords];
  for (int i = threadIdx.x; i < kM * kWords; i += kThreads) a[i] = Format::random(args, i);
  for (int i = threadIdx.x; i < kN * kWords; i += kThreads)
    b[i] = Format::random(args, kM * kWords + i);
  float c[kAccumulators];
#pragma unroll
  for (int i = 0; i < kAccumulators; ++i) c[i] = random_fraction(args, i);
  asm volatile("fence.proxy.async;" ::: "memory");  // make the writes visible to wgmma
  __syncthreads();
  const std::uint64_t first_a = descriptor(a), first_b = descriptor(b);
#pragma unroll 1
  for (int r = 0; r < args.repetitions; ++r) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    // Four add, the next four subtract the same, so accumulators do not grow.
#pragma unroll
    for (int i = 0; i < 2 * kTimes * kSteps; ++i) {
      const std::uint64_t step = std::uint64_t(i % kSteps) * kStepBytes >> 4;
      if (i / kSteps % 2 == 0)
        wgmma<Format, 1>::add(c, first_a + step, first_b + step);
      else
        wgmma<Format, -1>::add(c, first_a + step, first_b + step);
    }
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kAccumulators; ++i) sum += c[i];
  if (__float_as_uint(sum) == kNever) *args.sink = kNever;
  watch.stop();
}

template <class Format>
busy_kernel with_wgmma(roofline::resource r, const char* name, int numbers) {
  return {r, name, reinterpret_cast<const void*>(&wgmma_kernel<Format>), kThreads,
          2.0 * kM * kN * numbers * 2 * kTimes * kSteps};
}

}  // namespace

std::vector<busy_kernel> wgmma_kernels() {
  return {with_wgmma<tf32>(roofline::resource::tf32, "wgmma m64n256k8", 8),
          with_wgmma<fp16>(roofline::resource::fp16, "wgmma m64n256k16", 16),
          with_wgmma<bf16>(roofline::resource::bf16, "wgmma m64n256k16", 16)};
}

}  // namespace kzoo::microbenchmarks::cuda
