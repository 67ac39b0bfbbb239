// fp32 products on TF32 tensor cores: each element as a sum of two TF32 numbers, each product as
// three. Elements are split in registers, between ldmatrix and mma.sync.

#include <kzoo/threadblock_swizzle.hpp>
#include <tensor_cores/common/store_pairs.hpp>
#include <tensor_cores/common/tile_copy.hpp>

#include "fragments.hpp"

#include <cmath>

namespace split_tf32 {

// The products of a warp's part of the block's tile of C, which begins at (row, col) of the tile.
// k tiles arrive kStages - 1 ahead, and fragments one step ahead of their multiplication.
template <class S, int kWidth>
__device__ __forceinline__ void multiply(const kzoo::gemm<float>& g, int row0, int col0, int row,
                                         int col, float* stages, sums<S>& all) {
  const common::matrix_view<float> a{g.a, g.lda, g.m, g.k}, b{g.b, g.ldb, g.k, g.n};
  const int k_tiles = kzoo::ceil_div(g.k, S::kBK);
  const auto copy = [&](int k_tile, float* stage) {  // zeros past the end of K
    using common::copy_tile;
    copy_tile<typename S::a_tile, S::kThreads, kWidth>(a, stage, row0, k_tile * S::kBK);
    copy_tile<typename S::b_tile, S::kThreads, kWidth>(b, stage + S::a_tile::kElements,
                                                       k_tile * S::kBK, col0);
  };
  for (int stage = 0; stage < S::kStages - 1; ++stage) {
    copy(stage, stages + stage * S::kStage);
    kzoo::commit_group();
  }

  fragments<S> sets[2];
  kzoo::wait_group<S::kStages - 2>();
  __syncthreads();  // stage 0 is complete
  sets[0].load(stages, row, col, 0);

  int reading = 0;  // a stage
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    const float* stage = stages + reading * S::kStage;
    const int next = reading + 1 == S::kStages ? 0 : reading + 1;
    const int free = reading == 0 ? S::kStages - 1 : reading - 1;  // all threads have read it
    const int later = k_tile + S::kStages - 1;
    if (later < k_tiles) copy(later, stages + free * S::kStage);
    kzoo::commit_group();
#pragma unroll
    for (int step = 0; step < S::kSteps; ++step) {
      if (step + 1 < S::kSteps) {
        sets[(step + 1) % 2].load(stage, row, col, (step + 1) * S::kInstructionK);
      } else {
        kzoo::wait_group<S::kStages - 2>();
        __syncthreads();  // the next stage is complete, and all threads have read this one
        sets[0].load(stages + next * S::kStage, row, col, 0);
      }
      sets[step % 2].multiply(all.acc);
      if constexpr (S::kInterval > 0) {
        if ((step + 1) * S::kInstructionK % S::kInterval == 0) all.promote();
      }
    }
    reading = next;
  }
  kzoo::wait_group<0>();
  if constexpr (S::kInterval == 0) all.promote();
}

// Element (row, col) of AB, where it exists.
__device__ __forceinline__ float in_fp32(const kzoo::gemm<float>& g, int row, int col) {
  float sum = 0.0f;
  if (row >= g.m || col >= g.n) return sum;
  for (int k = 0; k < g.k; ++k) sum += g.a_at(row, k) * g.b_at(k, col);
  return sum;
}

// A warp's sums into C; its part begins at (row0, col0). A sum that is infinite or NaN says only
// that one of the parts or sums is: infinity times a part that is 0, or minus another infinity.
// Pairs with such a sum are computed again as fp32 has them. So are all where K is so small that
// fp32 loses less than the split, which loses up to 8 u S.
template <class S, bool kPairs>
__device__ __forceinline__ void store(const kzoo::gemm<float>& g, int row0, int col0,
                                      const sums<S>& all) {
  static_assert(2 * S::kRows * S::kCols == 32, "a bit for each pair");
  const int lane = threadIdx.x % 32;
  const auto row_of = [&](int i, int down) { return row0 + 16 * i + 8 * down + lane / 4; };
  const auto col_of = [&](int j) { return col0 + 8 * j + lane % 4 * 2; };
  constexpr int kFewTerms = 16;
  unsigned again = 0;
#pragma unroll
  for (int i = 0; i < S::kRows; ++i) {
#pragma unroll
    for (int j = 0; j < S::kCols; ++j) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float x = all.sum[i][j][2 * half], y = all.sum[i][j][2 * half + 1];
        if (g.k >= kFewTerms && std::isfinite(x) && std::isfinite(y)) {
          common::store_pair<kPairs>(g, row_of(i, half), col_of(j), x, y);
        } else {
          again |= 1u << (2 * (i * S::kCols + j) + half);
        }
      }
    }
  }
  for (; again != 0; again &= again - 1) {
    const int pair = __ffs(static_cast<int>(again)) - 1;
    const int row = row_of(pair / (2 * S::kCols), pair % 2), col = col_of(pair / 2 % S::kCols);
    common::store_pair<false>(g, row, col, in_fp32(g, row, col), in_fp32(g, row, col + 1));
  }
}

template <class S, int kWidth, bool kPairs>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    kernel(kzoo::gemm<float> g, int tile_rows, int tile_cols) {
  const int warp = threadIdx.x / 32;
  const auto tile = kzoo::threadblock_swizzle(blockIdx.x, tile_rows, tile_cols, 8);
  const int row0 = tile.row * S::kBM, col0 = tile.col * S::kBN;
  const int warp_row = warp / S::kWarpsN * S::kWM, warp_col = warp % S::kWarpsN * S::kWN;

  sums<S> all;
  multiply<S, kWidth>(g, row0, col0, warp_row, warp_col, kzoo::dynamic_shared<float>(), all);
  store<S, kPairs>(g, row0 + warp_row, col0 + warp_col, all);
}

// Computes C with tiles of S.
template <class S>
struct product {
  static void prepare() {
    kzoo::allow_dynamic_shared(kernel<S, 4, true>, S::kBytes);
    kzoo::allow_dynamic_shared(kernel<S, 1, false>, S::kBytes);
  }
  static std::int64_t tiles(std::int64_t m, std::int64_t n) {
    return (m + S::kBM - 1) / S::kBM * ((n + S::kBN - 1) / S::kBN);
  }
  static void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) {
    const int tile_rows = kzoo::ceil_div(g.m, S::kBM), tile_cols = kzoo::ceil_div(g.n, S::kBN);
    // Does each row start at a multiple of 16 bytes, and end at one?
    const bool aligned = g.k % 4 == 0 && g.n % 4 == 0 && g.rows_aligned(16);
    kzoo::launch({.grid = dim3(static_cast<unsigned>(tile_rows) * tile_cols),
                  .block = dim3(S::kThreads),
                  .dynamic_shared = S::kBytes,
                  .max_threads = S::kThreads,
                  .stream = stream},
                 aligned ? kernel<S, 4, true> : kernel<S, 1, false>, g, tile_rows, tile_cols);
  }
};

// Large tiles where there is one for each SM. Sums are the same bits with small ones.
template <int Interval>
class variant {
  using small = product<tiling<64, 64, 4, 2, Interval>>;
  using large_tiling = tiling<128, 128, 4, 1, Interval>;
  using large = product<large_tiling>;

 public:
  using types = kzoo::types<float>;
  static constexpr kzoo_precision precision = KZOO_COMPUTE_FP32_SPLIT;
  static constexpr unsigned compute_capability = 80;

  static const char* supports(const kzoo_problem&, const kzoo_device& d) {
    return d.kind == KZOO_CPU || large_tiling::kBytes <= d.shared_bytes_per_block
               ? nullptr
               : "its stages need more shared memory than a block of this device can have";
  }

  variant(const kzoo_problem& p, const kzoo_device& d)
      : is_large_(large::tiles(p.m, p.n) >= (d.kind == KZOO_CPU ? d.threads : d.multiprocessors)) {
    if (is_large_) {
      large::prepare();
    } else {
      small::prepare();
    }
  }

  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    if (is_large_) {
      large::run(g, stream);
    } else {
      small::run(g, stream);
    }
  }

 private:
  bool is_large_;
};

}  // namespace split_tf32

KZOO_PLUGIN("split_tf32", "fp32 as sums of two TF32 numbers, three products through mma.sync",
            kzoo::variant<split_tf32::variant<32>>("every_32", "promotes sums every 32 along K"),
            kzoo::variant<split_tf32::variant<8>>("every_8", "after each step of mma.sync"),
            kzoo::variant<split_tf32::variant<0>>("never", "no promotion: a larger error"));
