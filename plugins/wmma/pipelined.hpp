#pragma once
// What the tensor cores need to stay busy: large tiles, so that each byte fetched is used often,
// and everything under way before it is needed. Tiles arrive in a ring of stages by asynchronous
// copies, several steps along K ahead; fragments are loaded one multiplication ahead.

#include <common/raster.hpp>
#include <kzoo/async_copy.hpp>
#include <kzoo/plugin.hpp>

#include "fragments.hpp"

namespace tensor {

// A block computes BM x BN of C in steps of BK along K, a warp WM x WN of them.
template <int BM, int BN, int BK, int WM, int WN, int Stages, int BlocksPerSm>
struct tiling {
  static constexpr int kBM = BM, kBN = BN, kBK = BK, kWM = WM, kWN = WN;
  static constexpr int kStages = Stages, kBlocksPerSm = BlocksPerSm;
  static constexpr int kWarpsM = BM / WM, kWarpsN = BN / WN, kThreads = 32 * kWarpsM * kWarpsN;
  static constexpr int kRows = WM / kFragment, kCols = WN / kFragment;  // fragments of a warp
  static_assert(BM % WM == 0 && BN % WN == 0, "warps must cover the tile of C exactly");
  static_assert(WM % kFragment == 0 && WN % kFragment == 0, "fragments must cover the warp's part");
  static_assert(Stages >= 2, "one stage is multiplied while another arrives");
};

// Where things are in shared memory. Rows are a little longer than the tile is wide, which spreads
// a fragment's rows over the banks: 8 rows of 16 bytes each, or 4 of 32, fall into different ones.
template <class T, class S>
struct layout {
  static constexpr int kDepth = tensor_input<T>::kDepth;
  static constexpr int kSlices = S::kBK / kDepth;  // multiplications along K in a stage
  static constexpr int kChunk = 16 / sizeof(T);    // elements of one copy
  static constexpr int kARow = S::kBK + kChunk, kBRow = S::kBN + 8;
  static constexpr int kAElements = S::kBM * kARow;
  static constexpr int kStage = kAElements + S::kBK * kBRow;  // elements of a stage
  static constexpr int kCRow = S::kWN + 8;
  static constexpr int kCStrip = kFragment * kCRow;  // floats: a warp's row of fragments
  static constexpr int kTileBytes = S::kStages * kStage * int(sizeof(T));
  static constexpr int kCBytes = S::kThreads / 32 * kCStrip * int(sizeof(float));
  static constexpr std::size_t kBytes = kTileBytes > kCBytes ? kTileBytes : kCBytes;
  static_assert(kSlices >= 2 && kSlices % 2 == 0, "two sets of fragments take turns");
  static_assert(kAElements * sizeof(T) % 32 == 0 && kStage * sizeof(T) % 32 == 0,
                "fragments start at multiples of 32 bytes");
};

// Brings tiles of A and B to shared memory, one step along K after the other, with zeros past the
// edges. A thread copies kWidth neighbouring elements at a time: 16 bytes, asynchronously, where
// rows are aligned to that; else single ones, which stay in registers on their way.
template <class T, class S, int kWidth>
class tile_source {
  using L = layout<T, S>;
  static constexpr int kAcross = S::kBK / kWidth, kADown = S::kThreads / kAcross;
  static constexpr int kBAcross = S::kBN / kWidth, kBDown = S::kThreads / kBAcross;
  static_assert(S::kThreads % kAcross == 0 && S::kThreads % kBAcross == 0 && S::kBM % kADown == 0 &&
                    S::kBK % kBDown == 0,
                "each thread must copy the same number of elements");

 public:
  __device__ __forceinline__ tile_source(const kzoo::gemm<T>& g, int row0, int col0)
      : g_(g),
        a_k_(int(threadIdx.x) % kAcross * kWidth),
        b_k_(int(threadIdx.x) / kBAcross),
        a_to_(int(threadIdx.x) / kAcross * L::kARow + a_k_),
        b_to_(L::kAElements + b_k_ * L::kBRow + int(threadIdx.x) % kBAcross * kWidth),
        rows_(g.m - row0 - int(threadIdx.x) / kAcross),
        cols_(g.n - col0 - int(threadIdx.x) % kBAcross * kWidth),
        depth_(g.k),
        a_(&g.a_at(g.m - rows_, a_k_)),
        b_(&g.b_at(b_k_, g.n - cols_)) {}

  // The next step's tiles.
  __device__ __forceinline__ void fetch(T* stage) {
#pragma unroll
    for (int i = 0; i < S::kBM; i += kADown) {
      copy(stage + a_to_ + i * L::kARow, a_ + i * g_.lda, i < rows_ && a_k_ < depth_);
    }
#pragma unroll
    for (int i = 0; i < S::kBK; i += kBDown) {
      copy(stage + b_to_ + i * L::kBRow, b_ + i * g_.ldb, b_k_ + i < depth_ && cols_ > 0);
    }
    depth_ -= S::kBK;
    a_ += S::kBK;
    b_ += S::kBK * g_.ldb;
  }

 private:
  static __device__ __forceinline__ void copy(T* to, const T* from, bool inside) {
    if constexpr (kWidth > 1) {
      kzoo::copy_async<kWidth * sizeof(T)>(to, from, inside);
    } else {
      *to = inside ? *from : T(0);
    }
  }

  const kzoo::gemm<T>& g_;
  int a_k_, b_k_;    // this thread's first element in a step
  int a_to_, b_to_;  // where in a stage it goes
  int rows_, cols_;  // from it to the end of A's rows and of B's columns
  int depth_;        // steps along K that are left
  const T *a_, *b_;  // it, in the next step
};

// What a warp multiplies at once: a slice of its rows of A and of its columns of B.
template <class T, class S>
struct slice {
  fragment_a<T> a[S::kRows];
  fragment_b<T> b[S::kCols];

  __device__ __forceinline__ void load(const T* stage, int warp_row, int warp_col, int k) {
    using L = layout<T, S>;
#pragma unroll
    for (int i = 0; i < S::kRows; ++i) {
      kzoo::load_from_shared(a[i], stage + (warp_row + i * kFragment) * L::kARow + k, L::kARow);
    }
#pragma unroll
    for (int j = 0; j < S::kCols; ++j) {
      kzoo::load_from_shared(b[j], stage + L::kAElements + k * L::kBRow + warp_col + j * kFragment,
                             L::kBRow);
    }
  }

  __device__ __forceinline__ void multiply(fragment_c<T> (&sum)[S::kRows][S::kCols]) {
#pragma unroll
    for (int j = 0; j < S::kCols; ++j) round_inputs(b[j]);
#pragma unroll
    for (int i = 0; i < S::kRows; ++i) {
      round_inputs(a[i]);
#pragma unroll
      for (int j = 0; j < S::kCols; ++j) wmma::mma_sync(sum[i][j], a[i], b[j], sum[i][j]);
    }
  }
};

// A run of elements that is loaded and stored as one word.
template <class T, int kCount>
struct alignas(kCount * sizeof(T)) pack {
  T x[kCount];
};

// A warp's sums into C, one row of fragments at a time through its own strip of shared memory:
// which element of a fragment a thread holds is not specified.
template <class T, class S, bool kAligned>
__device__ __forceinline__ void store(const kzoo::gemm<T>& g,
                                      const fragment_c<T> (&sum)[S::kRows][S::kCols], float* strip,
                                      int row0, int col0) {
  using L = layout<T, S>;
  constexpr int kWidth = kAligned ? 4 : 1;
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < S::kRows; ++i) {
#pragma unroll
    for (int j = 0; j < S::kCols; ++j) {
      wmma::store_matrix_sync(strip + j * kFragment, sum[i][j], L::kCRow, wmma::mem_row_major);
    }
    __syncwarp();
#pragma unroll(kAligned ? 4 : 1)
    for (int first = 0; first < kFragment * S::kWN; first += kWidth * 32) {
      const int at = first + kWidth * lane;
      const int row = row0 + i * kFragment + at / S::kWN, col = col0 + at % S::kWN;
      const float* from = strip + at / S::kWN * L::kCRow + at % S::kWN;
      if constexpr (kAligned) {
        if (row >= g.m || col >= g.n) continue;
        const auto sums = *reinterpret_cast<const pack<float, kWidth>*>(from);
        auto* to = reinterpret_cast<pack<T, kWidth>*>(g.c + row * g.ldc + col);
        pack<T, kWidth> out;
        if (g.beta != 0.0f) out = *to;
#pragma unroll
        for (int x = 0; x < kWidth; ++x) {
          const float scaled = g.alpha * sums.x[x];
          out.x[x] = g.beta == 0.0f ? T(scaled) : T(scaled + g.beta * float(out.x[x]));
        }
        *to = out;
      } else {
        g.store_inside(row, col, *from);
      }
    }
    __syncwarp();
  }
}

template <class T, class S, bool kAligned>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    pipelined_kernel(kzoo::gemm<T> g, int tile_rows, int tile_cols) {
  using L = layout<T, S>;
  T* stages = kzoo::dynamic_shared<T>();
  const int warp = threadIdx.x / 32;
  const int warp_row = warp / S::kWarpsN * S::kWM, warp_col = warp % S::kWarpsN * S::kWN;

  const auto tile = common::banded(blockIdx.x, tile_rows, tile_cols, 8);
  const int row0 = tile.row * S::kBM, col0 = tile.col * S::kBN;

  constexpr int kWidth = kAligned ? L::kChunk : 1;
  tile_source<T, S, kWidth> source(g, row0, col0);
  const int steps = kzoo::ceil_div(g.k, S::kBK);
  for (int step = 0; step < S::kStages - 1; ++step) {
    if (step < steps) source.fetch(stages + step * L::kStage);
    kzoo::commit_group();
  }

  fragment_c<T> sum[S::kRows][S::kCols];
#pragma unroll
  for (int i = 0; i < S::kRows; ++i) {
#pragma unroll
    for (int j = 0; j < S::kCols; ++j) wmma::fill_fragment(sum[i][j], 0.0f);
  }

  slice<T, S> slices[2];
  kzoo::wait_group<S::kStages - 2>();
  __syncthreads();
  slices[0].load(stages, warp_row, warp_col, 0);

  int now = 0;  // the stage that is multiplied
  for (int step = 0; step < steps; ++step) {
    const T* stage = stages + now * L::kStage;
    const int next = now + 1 == S::kStages ? 0 : now + 1;
#pragma unroll
    for (int s = 0; s < L::kSlices; ++s) {
      if (s == 0) {  // into the stage before this one: nobody needs that any more
        const int free = now == 0 ? S::kStages - 1 : now - 1;
        if (step + S::kStages - 1 < steps) source.fetch(stages + free * L::kStage);
        kzoo::commit_group();
      }
      if (s + 1 < L::kSlices) {
        slices[(s + 1) % 2].load(stage, warp_row, warp_col, (s + 1) * L::kDepth);
      } else {
        kzoo::wait_group<S::kStages - 2>();
        __syncthreads();  // the next stage is complete, and this one has been read
        slices[0].load(stages + next * L::kStage, warp_row, warp_col, 0);
      }
      slices[s % 2].multiply(sum);
    }
    now = next;
  }

  kzoo::wait_group<0>();
  __syncthreads();  // the stages are strips for the results now
  store<T, S, kAligned>(g, sum, reinterpret_cast<float*>(stages) + warp * L::kCStrip,
                        row0 + warp_row, col0 + warp_col);
}

template <class S>
struct pipelined {
  using types = kzoo::types<float, __half, __nv_bfloat16>;
  template <class T>
  static constexpr kzoo_precision precision_of = input_precision<T>;
  static constexpr unsigned compute_capability = 80;

  static const char* supports(const kzoo_problem& p, const kzoo_device& d) {
    const std::size_t needed =
        p.type_c == KZOO_F32 ? layout<float, S>::kBytes : layout<__half, S>::kBytes;
    return d.kind == KZOO_CPU || needed <= d.shared_bytes_per_block
               ? nullptr
               : "its stages need more shared memory than a block of this device can have";
  }

  pipelined(const kzoo_problem& p, const kzoo_device&) {
    if (p.type_c == KZOO_F32) prepare<float>();
    if (p.type_c == KZOO_F16) prepare<__half>();
    if (p.type_c == KZOO_BF16) prepare<__nv_bfloat16>();
  }

  template <class T>
  void run(const kzoo::gemm<T>& g, kzoo::stream_t stream) const {
    const int tile_rows = kzoo::ceil_div(g.m, S::kBM), tile_cols = kzoo::ceil_div(g.n, S::kBN);
    const kzoo::launch_config config{.grid = dim3(static_cast<unsigned>(tile_rows) * tile_cols),
                                     .block = dim3(S::kThreads),
                                     .dynamic_shared = layout<T, S>::kBytes,
                                     .max_threads = S::kThreads,
                                     .stream = stream};
    kzoo::launch(config, aligned(g) ? pipelined_kernel<T, S, true> : pipelined_kernel<T, S, false>,
                 g, tile_rows, tile_cols);
  }

 private:
  template <class T>
  static void prepare() {
    kzoo::allow_dynamic_shared(pipelined_kernel<T, S, true>, layout<T, S>::kBytes);
    kzoo::allow_dynamic_shared(pipelined_kernel<T, S, false>, layout<T, S>::kBytes);
  }

  // Do all rows start at multiples of 16 bytes, and end at one?
  template <class T>
  static bool aligned(const kzoo::gemm<T>& g) {
    constexpr std::ptrdiff_t kChunk = layout<T, S>::kChunk;
    const auto whole = [](std::ptrdiff_t count) { return count % kChunk == 0; };
    const auto starts = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; };
    return whole(g.k) && whole(g.n) && whole(g.lda) && whole(g.ldb) && whole(g.ldc) &&
           starts(g.a) && starts(g.b) && starts(g.c);
  }
};

}  // namespace tensor
