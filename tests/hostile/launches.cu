// Launches that fail, crash, hang or race.
#include "hostile.hpp"
#include "log_process.hpp"

#include <cstdlib>

namespace {

using hostile::gemm;
using hostile::honest;
using hostile::launch;

constexpr int kTile = 128, kOutputs = 8, kThreadsX = kTile / kOutputs;
constexpr int kThreads = kThreadsX * kThreadsX;

__global__ void __launch_bounds__(kThreads) tile_kernel(gemm g) {
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

// Source D0's fifth kernel: built for 256 threads, launched with 1024, so it never starts.
struct too_many_threads {
  using types = kzoo::types<float>;
  void run(const gemm& g, kzoo::stream_t stream) const {
    const dim3 grid(kzoo::ceil_div(g.n, kTile), kzoo::ceil_div(g.m, kTile)), block(32, 32);
    kzoo::launch({.grid = grid, .block = block, .max_threads = kThreads, .stream = stream},
                 tile_kernel, g);
  }
};

// A failed launch without an error check: very fast, and C is unchanged. The cpu device has no
// <<<>>>; there it returns OK and writes nothing.
struct unchecked {
  using types = kzoo::types<float>;
  void run([[maybe_unused]] const gemm& g, [[maybe_unused]] kzoo::stream_t stream) const {
#if KZOO_TARGET_DEVICE == KZOO_CUDA
    const dim3 block(32, 64);  // 2048 threads
    hostile::per_element_kernel<honest><<<1, block, 0, stream>>>(g);
#endif
  }
};

// A wild pointer: SIGSEGV on the cpu; on cuda an illegal address, which corrupts the context.
struct segfault : hostile::per_element<segfault> {
  static __device__ void element(const gemm& g, int, int) {
    volatile float* volatile nowhere =
        nullptr;  // volatile twice, so that the optimiser keeps the access
    *nowhere = g.alpha;
  }
};

__global__ void wait_kernel(gemm g) {
  const volatile int* flag = reinterpret_cast<const volatile int*>(g.a);
  const int before = *flag;
  while (*flag == before) {
  }
}

// Waits for a flag that is never set.
struct never_returns {
  using types = kzoo::types<float>;
  void run(const gemm& g, kzoo::stream_t stream) const {
    hostile::log_process();
    launch(wait_kernel, g, stream);
  }
};

__global__ void divergent_kernel(gemm g) {
  if (threadIdx.y >= blockDim.y / 2) return;
  __syncthreads();
  if (hostile::row() < g.m && hostile::col() < g.n)
    hostile::store_product(g, hostile::row(), hostile::col());
}

// Half the threads exit before a barrier that the others wait at. GPUs since Volta count exited
// threads as arrived; only the simulator reports an error.
struct divergent_barrier {
  using types = kzoo::types<float>;
  void run(const gemm& g, kzoo::stream_t stream) const { launch(divergent_kernel, g, stream); }
};

constexpr int kSlices = 8;

#if KZOO_TARGET_DEVICE == KZOO_CUDA
// Split-K in which each block adds its slice of K to C without an atomic.
__global__ void race_kernel(gemm g) {
  const int row = hostile::row(), col = hostile::col();
  if (row >= g.m || col >= g.n) return;
  float sum = 0;
  for (int i = blockIdx.z; i < g.k; i += kSlices) sum += g.a_at(row, i) * g.b_at(i, col);
  volatile float* c = g.c + row * g.ldc + col;
  *c = *c + g.alpha * sum;
}

struct zeros : hostile::per_element<zeros> {
  static __device__ void element(const gemm& g, int row, int col) { g.store(row, col, 0); }
};
#else
__global__ void race_kernel(gemm g, bool loses_update) {
  const int row = hostile::row(), col = hostile::col();
  if (row >= g.m || col >= g.n) return;
  float sum = 0;
  const bool here = loses_update && row == g.m / 3 && col == g.n / 2;
  for (int i = here ? kSlices : 0; i < g.k; ++i) sum += g.a_at(row, i) * g.b_at(i, col);
  g.store(row, col, sum);
}
#endif

// Updates are lost occasionally. On the GPU, blocks race for an element of C. The simulator
// schedules threads in a fixed order, so the loss is simulated there.
struct race {
  using types = kzoo::types<float>;
  static const char* supports(const kzoo_problem& p, const kzoo_device&) {
    return p.beta == 0 ? nullptr : "beta must be 0";
  }
  void run(const gemm& g, kzoo::stream_t stream) const {
#if KZOO_TARGET_DEVICE == KZOO_CUDA
    zeros().run(g, stream);
    const dim3 grid(kzoo::ceil_div(g.n, 16), kzoo::ceil_div(g.m, 16), kSlices);
    kzoo::launch({.grid = grid, .block = dim3(16, 16), .stream = stream}, race_kernel, g);
#else
    constexpr int kOnceIn = 13;
    launch(race_kernel, g, stream, ++runs % kOnceIn == 0);
#endif
  }
  mutable int runs = 0;
};

// Correct until it is destroyed.
struct crashes_in_destroy : honest {
  ~crashes_in_destroy() { std::abort(); }
};

// Warps read what the warp before has stored, without a barrier. In the simulator's fixed order
// that is right.
__global__ void race_of_warps_kernel(gemm g) {
  __shared__ float sums[256];
  const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x), warp = thread / 32;
  const auto store = [&](int of) {
    const int row = static_cast<int>(blockIdx.y) * 16 + of / 16,
              col = static_cast<int>(blockIdx.x) * 16 + of % 16;
    if (row < g.m && col < g.n) g.store(row, col, sums[of]);
  };
  const bool inside = hostile::row() < g.m && hostile::col() < g.n;
  const float sum = inside ? hostile::dot(g, hostile::row(), hostile::col(), g.k) : 0;
  __syncthreads();
  sums[thread] = sum;
  if (warp >= 1 && warp <= 6) store(thread - 32);
  if (warp >= 6) store(thread);
}
struct race_of_warps {
  using types = kzoo::types<float>;
  void run(const gemm& g, kzoo::stream_t stream) const {
    hostile::launch(race_of_warps_kernel, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("launches", "Fails, crashes, hangs or races while it is launched",
            kzoo::variant<too_many_threads>("too_many_threads", "four times its __launch_bounds__"),
            kzoo::variant<unchecked>("unchecked", "ignores a failed launch"),
            kzoo::variant<segfault>("segfault", "writes through a null pointer"),
            kzoo::variant<never_returns>("never_returns", "has to be killed"),
            kzoo::variant<divergent_barrier>("divergent_barrier", "undefined in CUDA"),
            kzoo::variant<race>("race", "right in most runs"),
            kzoo::variant<race_of_warps>("race_of_warps", "right in the simulator's usual order"),
            kzoo::variant<crashes_in_destroy>("crashes_in_destroy", "aborts when it is destroyed"),
            kzoo::variant<honest>("honest", "must pass"));
