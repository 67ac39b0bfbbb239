// Several stages: while one k tile is multiplied, others arrive, and the copies of one more are
// issued. None of these is needed soon, so their copies need not come first: they are issued a few
// in each k step, and do not hold up the reads of fragments.
//
//   stage   0         1         2         3         4           (kStages = 5)
//           reading   arriving  arriving  arriving  filling     multiply k tile 0, start to copy 4
//           filling   reading   arriving  arriving  arriving    multiply k tile 1, start to copy 5

#include <fp32/common/async_copies.hpp>

namespace {

template <class Tile, bool kAligned>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerSm)
    multistage_kernel(kzoo::gemm<float> g) {
  using Layout = typename Tile::Layout;                 // padded
  float* const stages = kzoo::dynamic_shared<float>();  // kStages of (BK, BM) and (BK, BN)
  const common::warp_thread_coords<Tile> coords;
  const int k_tiles = kzoo::ceil_div(g.k, Tile::kBK);
  static_assert(Tile::kStages >= 3, "one stage is read, one is filled, others arrive");

  // This thread's copies of a k tile, from k tile 0 on.
  common::async_copies<Tile, kAligned> copies(g, coords.thread, coords.row0, coords.col0, 0);
#pragma unroll 1
  for (int k_tile = 0; k_tile < Tile::kStages - 1; ++k_tile) {
    copies.copy_all(stages + k_tile * Tile::kStage, k_tile < k_tiles);
    kzoo::commit_group();
    copies.advance(k_tile + 1 < k_tiles);
  }

  float acc[Tile::kTM][Tile::kTN] = {};  // (TM, TN)
#pragma unroll 1
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    kzoo::wait_group<Tile::kStages - 2>();  // all groups but the youngest kStages - 2 have arrived
    __syncthreads();  // this k tile is complete, and all threads have read the one before it
    const float* const a_tile = stages + k_tile % Tile::kStages * Tile::kStage;  // (BK, BM)
    const float* const b_tile = a_tile + Layout::kSize;                          // (BK, BN)
    float* const filling = stages + (k_tile + Tile::kStages - 1) % Tile::kStages * Tile::kStage;
    const bool has_tile = k_tile + Tile::kStages - 1 < k_tiles;
    float a[2][Tile::kTM], b[2][Tile::kTN];
    common::read_fragments<Tile, Layout>(a_tile, b_tile, coords, 0, a[0], b[0]);
#pragma unroll
    for (int k = 0; k < Tile::kBK; ++k) {
      const int now = k % 2, next = (k + 1) % 2;
      if (k + 1 < Tile::kBK) {
        common::read_fragments<Tile, Layout>(a_tile, b_tile, coords, k + 1, a[next], b[next]);
        // Equivalent to copy_all, a few copies in each k step.
        copies.copy_in_step(k, Tile::kBK, filling, has_tile);
      }
      common::outer_product(a[now], b[now], acc);
    }
    kzoo::commit_group();
    copies.advance(k_tile + Tile::kStages < k_tiles);  // on to the next, if there is one
  }
  kzoo::wait_group<0>();
  common::store_tile_inside<kAligned>(g, coords, acc);  // store_tile, also at the edges of C
}

template <int BM, int BN, int BK, int Stages, int BlocksPerSm>
struct variant {
  using Tile = common::staged<common::warp_tiling<BM, BN, BK, 64, 64, 16, 8>, Stages, BlocksPerSm>;
  using grid = Tile;
  template <bool kAligned>
  static constexpr auto kernel_for = multistage_kernel<Tile, kAligned>;

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

KZOO_PLUGIN(
    "multistage", "Several stages, whose copies are spread over the k steps",
    kzoo::variant<variant<128, 128, 16, 4, 2>>("128x128x16_s4", "4 stages, two blocks per SM"),
    kzoo::variant<variant<128, 256, 16, 5, 1>>("128x256x16_s5",
                                               "5 stages, large tiles, for large problems"));
