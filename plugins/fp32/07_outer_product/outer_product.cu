// The order of the FMAs of a k step. (Outer products are not new: register_tiles has them.) An FMA
// reads three registers; an operand that the FMA before it had in the same place comes from a reuse
// cache.
// inner: four k steps of one accumulator, then the next.
// outer: one k step of all accumulators, row by row.
// serpentine: the same with every second row backwards.

#include <fp32/common/bank_layouts.hpp>
#include <fp32/common/tile_loader.hpp>

namespace {

enum class order { inner, outer, serpentine };

template <class Tile, order kOrder, bool kAligned>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerSm)
    outer_product_kernel(kzoo::gemm<float> g) {
  using Layout = common::swizzled<Tile>;
  constexpr int kSteps = kOrder == order::inner ? 4 : 1;         // along K, in registers at once
  __shared__ __align__(16) float a_tile[Layout::kSize];          // (BK, BM) at Layout::at(k, row)
  __shared__ __align__(16) float b_tile[Tile::kBK * Tile::kBN];  // (BK, BN), row after row
  const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * Tile::kThreadsX + tx;
  const int row0 = blockIdx.y * Tile::kBM, col0 = blockIdx.x * Tile::kBN;
  common::tile_loader<Tile, Layout, kAligned> loader(g, thread, row0, col0);
  float acc[Tile::kTM][Tile::kTN] = {};  // (TM, TN)
  for (int k0 = 0; k0 < g.k; k0 += Tile::kBK) {
    // Moved to common/tile_loader.hpp:
    loader.load_global(k0);               // equivalent to bank_conflict_free's a4 = ..., b4 = ...
    loader.store_shared(a_tile, b_tile);  // and to its stores of them
    __syncthreads();                      // the tiles are complete
#pragma unroll
    for (int k = 0; k < Tile::kBK; k += kSteps) {
      float a[kSteps][Tile::kTM], b[kSteps][Tile::kTN];
#pragma unroll
      for (int s = 0; s < kSteps; ++s) {
#pragma unroll
        for (int i = 0; i < Tile::kTM; i += 4) {
          common::read_vec4(&a_tile[Layout::at(k + s, i * Tile::kThreadsY + ty * 4)], &a[s][i]);
        }
#pragma unroll
        for (int j = 0; j < Tile::kTN; j += 4) {
          common::read_vec4(&b_tile[(k + s) * Tile::kBN + j * Tile::kThreadsX + tx * 4], &b[s][j]);
        }
      }
#pragma unroll
      for (int i = 0; i < Tile::kTM; ++i) {
#pragma unroll
        for (int x = 0; x < Tile::kTN; ++x) {
          const int j = kOrder == order::serpentine && i % 2 == 1 ? Tile::kTN - 1 - x : x;
#pragma unroll
          for (int s = 0; s < kSteps; ++s) acc[i][j] += a[s][i] * b[s][j];
        }
      }
    }
    __syncthreads();  // all threads have read them
  }
#pragma unroll
  for (int i = 0; i < Tile::kTM; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::kTN; j += 4) {
      // The row that acc[i] was read for: its float4 begins at i - i % 4.
      const int row = row0 + i / 4 * 4 * Tile::kThreadsY + ty * 4 + i % 4;
      const int col = col0 + j * Tile::kThreadsX + tx * 4;
      common::store_c<kAligned>(g, row, col, &acc[i][j]);  // C = alpha acc + beta C, four times
    }
  }
}

template <order kOrder>
struct variant {
  using Tile = common::tiling<128, 128, 8, 8, 8>;
  using grid = Tile;
  template <bool kAligned>
  static constexpr auto kernel_for = outer_product_kernel<Tile, kOrder, kAligned>;

  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    Tile::launch(Tile::aligned(g) ? kernel_for<true> : kernel_for<false>, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("outer_product", "The order of the FMAs between a thread's registers",
            kzoo::variant<variant<order::inner>>("inner",
                                                 "four k steps of one accumulator at a time"),
            kzoo::variant<variant<order::outer>>("outer",
                                                 "one k step of all accumulators, by rows"),
            kzoo::variant<variant<order::serpentine>>("serpentine", "every second row backwards"));
