// Warp specialization. One warpgroup, the producer, loads tiles and does nothing else; two others,
// the consumers, multiply them and do nothing else. There is no __syncthreads in the main loop:
// each stage has two mbarriers, full and empty.

#include <kzoo/threadblock_swizzle.hpp>
#include <tensor_cores/common/producer_consumer.hpp>
#include <tensor_cores/common/tma_operands.hpp>

namespace warp_specialized {

using tma::tile_maps;
using wgmma::smem_layout;

// One thread: k tiles into stages, each as soon as it is empty.
template <class G, class Tile>
__device__ __forceinline__ void produce(const tile_maps<G, Tile>& maps, int k_tiles, int row0,
                                        int col0, typename G::a_type* stages,
                                        barriers<Tile::kStages>& sync) {
  pipeline_state<Tile::kStages> state;
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile, state.advance()) {
    // At once, the first time round: a new barrier passes a wait for parity 1.
    sync.empty[state.stage].wait(state.parity ^ 1);
    tma::load_stage<G, Tile>(maps, stages + state.stage * smem_layout<G, Tile>::kStage, row0, col0,
                             k_tile * Tile::kBK, sync.full[state.stage]);
  }
}

// A consumer: acc = the product of `k_tiles` stages, each as soon as it is full. The stage of a k
// tile is released when the products of the next have started.
template <class G, class Tile>
__device__ __forceinline__ void consume(const typename G::a_type* stages, int k_tiles,
                                        int warpgroup_row, barriers<Tile::kStages>& sync,
                                        pipeline_state<Tile::kStages>& state,
                                        float (&acc)[Tile::kAccumulators]) {
  const auto release = [&](int stage) {
    if (threadIdx.x % kzoo::kWarpgroup == 0) sync.empty[stage].arrive();
  };
  int last = 0;
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile, state.advance()) {
    sync.full[state.stage].wait(state.parity);
    wgmma::multiply_k_tile<G, Tile>(stages + state.stage * smem_layout<G, Tile>::kStage,
                                    warpgroup_row, k_tile == 0, acc);
    if (k_tile > 0) {
      kzoo::wgmma_wait<1>();
      release(last);
    }
    last = state.stage;
  }
  kzoo::wgmma_wait<0>(acc);
  release(last);
}

template <class G, class Tile>
__global__ void __launch_bounds__(kBlockThreads<Tile>, Tile::kBlocksPerSm)
    warp_specialized_kernel(const __grid_constant__ tile_maps<G, Tile> maps, G g, bool pairs,
                            int tile_rows, int tile_cols) {
  auto* stages = kzoo::dynamic_shared<typename G::a_type>();  // kStages of (BM, BK) and (BK, BN)
  auto& sync = *reinterpret_cast<barriers<Tile::kStages>*>(
      stages + Tile::kStages * smem_layout<G, Tile>::kStage);
  if (threadIdx.x == 0) sync.init(Tile::kWarpgroups);
  __syncthreads();

  const auto tile = kzoo::threadblock_swizzle(blockIdx.x, tile_rows, tile_cols, 8);
  const int row0 = tile.row * Tile::kBM, col0 = tile.col * Tile::kBN;
  const int k_tiles = kzoo::ceil_div(g.k, Tile::kBK);
  // The same in all lanes. The shuffle lets the compiler know it: else it would compute wgmma's
  // descriptors in each lane, and not once for the warp, in uniform registers.
  const int warpgroup = __shfl_sync(~0u, threadIdx.x / kzoo::kWarpgroup, 0);
  if (warpgroup == Tile::kWarpgroups) {
    if (threadIdx.x % kzoo::kWarpgroup == 0)
      produce<G, Tile>(maps, k_tiles, row0, col0, stages, sync);
  } else {
    pipeline_state<Tile::kStages> state;
    float acc[Tile::kAccumulators];  // (64, BN) of a warpgroup
    consume<G, Tile>(stages, k_tiles, warpgroup * 64, sync, state, acc);
    wgmma::store(pairs, g, row0 + warpgroup * 64, col0, acc);
  }
}

template <class Tile>
struct traits : tma::block_per_tile<traits<Tile>, Tile> {
  static constexpr int kThreads = warp_specialized::kBlockThreads<Tile>;
  template <class G>
  static constexpr std::size_t kBytes = smem_layout<G, Tile>::kBytes +
                                        sizeof(barriers<Tile::kStages>);
  template <class G>
  static constexpr auto kernel = warp_specialized_kernel<G, Tile>;
};

template <int BM, int BN, int Stages>
using variant = tma::tile_variant<traits<wgmma::tiling<BM, BN, Stages, 1>>>;

}  // namespace warp_specialized

KZOO_PLUGIN("warp_specialized", "A producer and two consumer warpgroups",
            (kzoo::variant<warp_specialized::variant<128, 64, 8>>(
                "128x64x64", "8 stages; for matrices with few tiles")),
            (kzoo::variant<warp_specialized::variant<128, 128, 6>>("128x128x64", "6 stages")));
