// Asynchronous copies (cp.async). A k tile (BK steps along K of A and of B) goes from global to
// shared memory without passing through registers. There are two stages, as in warp_tiles: while a
// k tile is multiplied, the next arrives in the other stage.
//
//   warp_tiles   load 2 to registers | multiply 1                | store 2 | barrier
//   here         start to copy 2     | multiply 1                | wait    | barrier

#include <fp32/common/async_copies.hpp>

namespace {

template <class Tile, bool kAligned>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerSm)
    cp_async_kernel(kzoo::gemm<float> g) {
  using Layout = typename Tile::Layout;                 // padded
  float* const stages = kzoo::dynamic_shared<float>();  // kStages of (BK, BM) and (BK, BN)
  const common::warp_thread_coords<Tile> coords;
  const int k_tiles = kzoo::ceil_div(g.k, Tile::kBK);

  // This thread's copies of a k tile, from k tile 0 on.
  common::async_copies<Tile, kAligned> copies(g, coords.thread, coords.row0, coords.col0, 0);
  copies.copy_all(stages, true);  // a cp.async for each float of A's tile and each float4 of B's
  kzoo::commit_group();
  copies.advance(1 < k_tiles);  // on to k tile 1, if there is one

  float acc[Tile::kTM][Tile::kTN] = {};  // (TM, TN)
#pragma unroll 1
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    kzoo::wait_group<0>();  // this thread's copies have arrived
    __syncthreads();        // this k tile is complete, and all threads have read the one before it
    const float* const a_tile = stages + k_tile % 2 * Tile::kStage;  // (BK, BM)
    const float* const b_tile = a_tile + Layout::kSize;              // (BK, BN)
    copies.copy_all(stages + (k_tile + 1) % 2 * Tile::kStage, k_tile + 1 < k_tiles);
    kzoo::commit_group();
    copies.advance(k_tile + 2 < k_tiles);  // on to the one after that, if there is one
    float a[2][Tile::kTM], b[2][Tile::kTN];
    common::read_fragments<Tile, Layout>(a_tile, b_tile, coords, 0, a[0], b[0]);
#pragma unroll
    for (int k = 0; k < Tile::kBK; ++k) {
      const int now = k % 2, next = (k + 1) % 2;
      if (k + 1 < Tile::kBK) {
        common::read_fragments<Tile, Layout>(a_tile, b_tile, coords, k + 1, a[next], b[next]);
      }
      common::outer_product(a[now], b[now], acc);
    }
  }
  kzoo::wait_group<0>();
  common::store_tile_inside<kAligned>(g, coords, acc);  // store_tile, also at the edges of C
}

template <int BM, int BN, int BK, int WM, int WN, int TM, int TN>
struct variant {
  using WarpTile = common::warp_tiling<BM, BN, BK, WM, WN, TM, TN>;
  using Tile = common::staged<WarpTile, 2, WarpTile::kBlocksPerSm>;
  using grid = Tile;
  template <bool kAligned>
  static constexpr auto kernel_for = cp_async_kernel<Tile, kAligned>;

  static constexpr unsigned compute_capability = 80;
  static const char* supports(const kzoo_device& d) { return Tile::too_much_shared_memory(d); }
  variant(const kzoo_problem&, const kzoo_device&) {
    kzoo::allow_dynamic_shared(kernel_for<true>, Tile::kSharedBytes);
    kzoo::allow_dynamic_shared(kernel_for<false>, Tile::kSharedBytes);
  }

  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    Tile::launch(Tile::aligned(g) ? kernel_for<true> : kernel_for<false>, g, stream,
                 Tile::kSharedBytes);
  }
};

}  // namespace

KZOO_PLUGIN("cp_async", "Tiles go to shared memory by asynchronous copies",
            kzoo::variant<variant<128, 128, 16, 32, 64, 8, 8>>(
                "128x128x16_32x64_8x8", "64 accumulators per thread, two blocks per SM"),
            kzoo::variant<variant<128, 256, 8, 64, 64, 16, 8>>(
                "128x256x8_64x64_16x8", "128 accumulators per thread, one block per SM"),
            kzoo::variant<variant<128, 256, 16, 64, 64, 16, 8>>(
                "128x256x16_64x64_16x8", "the same with 16 steps per barrier"));
