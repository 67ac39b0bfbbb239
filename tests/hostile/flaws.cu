// Each kernel has a flaw, for `runner xray`: exactly the lines with the variant's name in a
// comment must be found. Results do not matter. Blocks have 64 threads; 64x64x32 makes 2 x 2
// blocks.

#include <kzoo/mbarrier.hpp>
#include <kzoo/plugin.hpp>
#include <kzoo/warpgroup.hpp>

namespace {

using gemm = kzoo::gemm<float>;

__device__ int block_row() { return static_cast<int>(blockIdx.y) * 32; }
__device__ int block_col() { return static_cast<int>(blockIdx.x) * 32; }
__device__ int thread() { return static_cast<int>(threadIdx.x); }
// The only element of C that the thread may write.
__device__ float& own(const gemm& g) {
  return g.c[(block_row() + thread() / 32) * g.ldc + block_col() + thread() % 32];
}

// Races in shared memory.

__global__ void no_barrier(gemm g) {
  __shared__ float s[64];
  s[thread()] = g.a[thread()];  // no_barrier
  own(g) = s[thread() ^ 32];    // no_barrier
}

__global__ void no_second_barrier(gemm g) {
  __shared__ float s[64];
  float acc = 0;
  for (int k = 0; k < 4; ++k) {
    s[thread()] = g.a[k * 64 + thread()];  // no_second_barrier
    __syncthreads();
    acc += s[63 - thread()];  // no_second_barrier
  }
  own(g) = acc;
}

__global__ void no_warp_barrier(gemm g) {
  __shared__ float s[64];
  s[thread()] = g.a[thread()];  // no_warp_barrier
  own(g) = s[thread() ^ 1];     // no_warp_barrier
}

__global__ void two_writers(gemm g) {
  __shared__ float s[64];
  s[thread()] = 0;
  __syncthreads();
  s[thread() / 2] = g.a[thread()];  // two_writers
  __syncthreads();
  own(g) = s[thread()];
}

__global__ void late_write(gemm g) {
  __shared__ float s[64];
  s[thread()] = g.a[thread()];
  __syncthreads();
  own(g) = s[thread()];     // late_write
  s[63 - thread()] = 1.0f;  // late_write
}

__global__ void same_stage(gemm g) {
  __shared__ float s[2][64];
  s[0][thread()] = g.a[thread()];
  __syncthreads();
  s[0][thread()] = g.a[64 + thread()];  // same_stage
  own(g) = s[0][63 - thread()];         // same_stage
}

__global__ void dynamic_race(gemm g) {
  float* s = kzoo::dynamic_shared<float>();
  s[thread()] = g.a[thread()];  // dynamic_race
  own(g) = s[thread() ^ 32];    // dynamic_race
}

__global__ void atomic_and_plain(gemm g) {
  __shared__ float sum;
  if (thread() == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, g.a[thread()]);  // atomic_and_plain
  own(g) = sum;                    // atomic_and_plain
}

__global__ void vector_overlap(gemm g) {
  __shared__ __align__(16) float s[256];
  *reinterpret_cast<float4*>(&s[thread() * 4]) = make_float4(1, 2, 3, 4);  // vector_overlap
  own(g) = s[(thread() * 4 + 130) % 256];                                  // vector_overlap
}

// Races between blocks.

__global__ void all_write(gemm g) {
  if (thread() == 0) g.c[0] = g.a[0];  // all_write
}

__global__ void overlapping_tiles(gemm g) {
  g.c[block_row() * g.ldc + block_col() / 2 + thread()] = g.a[thread()];  // overlapping_tiles
}

__global__ void reads_neighbour(gemm g) {
  own(g) = g.a[thread()];  // reads_neighbour
  __syncthreads();
  const float other =
      g.c[(block_row() ^ 32) * g.ldc + block_col() + thread() % 32];  // reads_neighbour
  if (other > 1e30f) own(g) = other;
}

__global__ void sums_without_atomics(gemm g) {
  float& out = g.c[thread()];
  out = g.a[thread()] + (blockIdx.x + blockIdx.y == 0 ? 0 : out);  // sums_without_atomics
}

// Reads of unwritten memory.

__global__ void no_zeros(gemm g) {
  __shared__ float s[64];
  if (thread() < 60) s[thread()] = g.a[thread()];
  __syncthreads();
  own(g) = s[63 - thread()];  // no_zeros
}

__global__ void stage_too_early(gemm g) {
  __shared__ float s[2][64];
  s[0][thread()] = g.a[thread()];
  __syncthreads();
  own(g) = s[1][63 - thread()];  // stage_too_early
}

__global__ void dynamic_unwritten(gemm g) {
  own(g) = kzoo::dynamic_shared<float>()[thread()];  // dynamic_unwritten
}

__global__ void reads_c(gemm g) {
  own(g) = g.alpha * g.a[thread()] + g.beta * own(g);  // reads_c
}

__global__ void adds_to_c(gemm g) {
  atomicAdd(&own(g), g.a[thread()]);  // adds_to_c
}

__global__ void reads_workspace(gemm g, const float* workspace) {
  own(g) = workspace[thread()];  // reads_workspace
}

// Out of bounds.

__global__ void row_too_long(gemm g) {
  __shared__ float s[64][4];
  for (int i = 0; i < 4; ++i) s[thread()][i] = g.a[thread()];
  __syncthreads();
  float acc = 0;
  for (int i = 1; i <= g.m / 16; ++i) acc += s[thread() / 2][i];  // row_too_long
  own(g) = acc;
}

__global__ void one_past(gemm g) {
  __shared__ float s[64], after[64];
  s[thread()] = after[thread()] = g.a[thread()];
  __syncthreads();
  own(g) = s[thread() + 1] + after[thread()];  // one_past
}

__global__ void negative(gemm g) {
  __shared__ float before[64], s[64];
  s[thread()] = before[thread()] = g.a[thread()];
  __syncthreads();
  own(g) = s[thread() - 1] + before[thread()];  // negative
}

__global__ void dynamic_past(gemm g) {
  float* s = kzoo::dynamic_shared<float>();
  s[thread()] = g.a[thread()];
  __syncthreads();
  own(g) = s[thread() + 32];  // dynamic_past
}

__global__ void a_past_its_end(gemm g) {
  own(g) = g.a[(g.m - 1) * g.lda + thread()];  // a_past_its_end
}

__global__ void c_past_its_end(gemm g) {
  own(g) = g.a[thread()];
  if (block_row() + block_col() == 0) g.c[g.m * g.ldc + thread()] = 0;  // c_past_its_end
}

// With padding; otherwise it is a race.
__global__ void c_between_rows(gemm g) {
  if (block_row() + block_col() == 0) g.c[thread() % 32 * g.ldc + g.n] = 0;  // c_between_rows
}

// Misaligned.

__global__ void odd_row(gemm g) {
  const float2 two = *reinterpret_cast<const float2*>(&g.a[thread() * 2 + 1]);  // odd_row
  own(g) = two.x + two.y;
}

__global__ void padded_by_one(gemm g) {
  __shared__ __align__(16) float s[64 * 5];
  for (int i = 0; i < 5; ++i) s[thread() * 5 + i] = g.a[thread()];
  __syncthreads();
  const float4 four = *reinterpret_cast<const float4*>(&s[thread() * 5]);  // padded_by_one
  own(g) = four.x + four.w;
}

// Correct: nothing may be found.
__global__ void none(gemm g) {
  __shared__ float s[64], sum;
  if (thread() == 0) sum = 0;
  s[thread()] = g.a[thread()];
  __syncwarp();
  const float neighbour = s[thread() ^ 1];
  __syncthreads();
  atomicAdd(&sum, s[63 - thread()]);
  __syncthreads();
  own(g) = neighbour + sum;
}

// Correct: nothing may be found, although no __syncthreads() is between the accesses.
__global__ void other_barriers(gemm g) {
  __shared__ float s[64];
  __shared__ kzoo::mbarrier full;
  if (thread() == 0) {
    full.init(32);
    kzoo::fence_mbarrier_init();
  }
  __syncthreads();
  if (thread() < 32) {
    s[thread()] = g.a[thread()];
    full.arrive();
  }
  full.wait(0);
  const float first = s[thread() % 32];
  kzoo::named_barrier<64>(1);
  s[63 - thread()] = first;
  kzoo::named_barrier<64>(1);
  own(g) = s[thread()];
}

template <auto kKernel, int kDynamicShared = 0>
struct flaw {
  using types = kzoo::types<float>;
  template <class T>
  void run(const kzoo::gemm<T>& g, kzoo::stream_t stream) const {
    kzoo::launch({.grid = dim3(g.n / 32, g.m / 32),
                  .block = dim3(64),
                  .dynamic_shared = kDynamicShared,
                  .stream = stream},
                 kKernel, g);
  }
};

struct with_workspace {
  using types = kzoo::types<float>;
  static std::size_t workspace_bytes(const kzoo_problem&, const kzoo_device&) { return 4096; }
  template <class T>
  void run(const kzoo::gemm<T>& g, const kzoo_arguments& arguments) const {
    kzoo::launch({.grid = dim3(g.n / 32, g.m / 32), .block = dim3(64)}, reads_workspace, g,
                 static_cast<const float*>(arguments.workspace));
  }
};

}  // namespace

#define KZOO_FLAW(kernel) kzoo::variant<flaw<kernel>>(#kernel, "one flaw")
#define KZOO_DYNAMIC_FLAW(kernel) kzoo::variant<flaw<kernel, 256>>(#kernel, "one flaw")

KZOO_PLUGIN("flaws", "Kernels with one flaw each", KZOO_FLAW(no_barrier),
            KZOO_FLAW(no_second_barrier), KZOO_FLAW(no_warp_barrier), KZOO_FLAW(two_writers),
            KZOO_FLAW(late_write), KZOO_FLAW(same_stage), KZOO_DYNAMIC_FLAW(dynamic_race),
            KZOO_FLAW(atomic_and_plain), KZOO_FLAW(vector_overlap), KZOO_FLAW(all_write),
            KZOO_FLAW(overlapping_tiles), KZOO_FLAW(reads_neighbour),
            KZOO_FLAW(sums_without_atomics), KZOO_FLAW(no_zeros), KZOO_FLAW(stage_too_early),
            KZOO_DYNAMIC_FLAW(dynamic_unwritten), KZOO_FLAW(reads_c), KZOO_FLAW(adds_to_c),
            KZOO_FLAW(c_past_its_end), KZOO_FLAW(c_between_rows),
            kzoo::variant<with_workspace>("reads_workspace", "one flaw"), KZOO_FLAW(row_too_long),
            KZOO_FLAW(one_past), KZOO_FLAW(negative), KZOO_DYNAMIC_FLAW(dynamic_past),
            KZOO_FLAW(a_past_its_end), KZOO_FLAW(odd_row), KZOO_FLAW(padded_by_one),
            kzoo::variant<flaw<none>>("none", "no flaw"),
            kzoo::variant<flaw<other_barriers>>("other_barriers", "no flaw"));
