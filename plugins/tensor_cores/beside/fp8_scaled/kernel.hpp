#pragma once
// persistent's kernel, with a consumer that scales the products of each k tile and adds them to
// sums of its own. While it adds, products of the next k tile run; while it stores a tile of C, the
// first ones of the next.

#include <tensor_cores/beside/persistent/kernel.hpp>

#include <type_traits>

#include "scales.hpp"

namespace fp8_scaled {

using persistent::assignment;
using persistent::partial_sums;
using persistent::schedule;
using persistent::soft_barriers;
using persistent::store_by;
using tma_store::c_panel;
using tma_store::c_panel_buffers;
using tma_store::rounded_accumulators;
using warp_specialized::barriers;
using warp_specialized::kBlockThreads;
using warp_specialized::pipeline_state;
using wgmma::smem_layout;

inline constexpr int kWarpsOfGroup = kzoo::kWarpgroup / 32;

// Shared memory: that of persistent, then the scales.
template <class G, class Tile>
struct shared_layout : persistent::shared_layout<G, Tile> {
  using base = persistent::shared_layout<G, Tile>;
  static constexpr std::size_t kScales = Tile::kStages * sizeof(stage_scales<Tile>);
  static constexpr std::size_t kBytes = base::kBytes + kScales;
};

// A consumer's way through the stages: which one is multiplied next, and which products are scaled
// and added next, up to two stages behind.
template <class G, class Tile>
struct pipeline {
  using accumulators = float[Tile::kAccumulators];

  const typename G::a_type* stages;
  const stage_scales<Tile>* scales;
  barriers<Tile::kStages>& sync;
  int warpgroup;
  int to_release;  // no producer waits for the last stages to be empty, and the other block may
                   // have ended by then
  pipeline_state<Tile::kStages> next{}, oldest{};

  // Starts the products of the next stage.
  __device__ __forceinline__ void multiply(accumulators& acc) {
    sync.full[next.stage].wait(next.parity);
    wgmma::multiply_k_tile<G, Tile>(stages + next.stage * smem_layout<G, Tile>::kStage,
                                    warpgroup * 64, true, acc);
    next.advance();
  }

  // sum += the oldest products that run, of k tile `k_tile` of a tile of C from column `col` on,
  // scaled. kYounger others go on.
  template <int kYounger>
  __device__ __forceinline__ void add(int col, int k_tile, accumulators& acc, accumulators& sum) {
    const int thread = static_cast<int>(threadIdx.x) % kzoo::kWarpgroup;
    const int row = warpgroup * 64 + thread / 32 * 16 + thread % 32 / 4;
    const factors<Tile> by(scales[oldest.stage], row, col, k_tile);
    kzoo::wgmma_wait<kYounger>(acc);
    release(thread % 32);
    oldest.advance();
    by.add(acc, sum);
  }

 private:
  // Says that this warp has read the oldest stage and its scales.
  __device__ __forceinline__ void release(int lane) {
    __syncwarp();
    if (to_release-- <= 0) return;
    if constexpr (Tile::kCluster == 1) {
      if (lane == 0) sync.empty[oldest.stage].arrive();
    } else {
      if (lane < Tile::kCluster) sync.empty[oldest.stage].arrive_in(lane);
    }
  }
};

// The consumer loop goes through the k tiles of all of the block's tiles of C without a break: a
// tile is stored while the first products of the next run.
template <class G, class Tile, bool kByTma>
__device__ __forceinline__ void consume(const kzoo::tensor_map<c_panel<typename G::c_type>>& map_c,
                                        const G& g, store_by how, const schedule<Tile>& work,
                                        const partial_sums<Tile>& sums, int warpgroup,
                                        pipeline<G, Tile> products, typename G::c_type* buffers) {
  static_assert(!Tile::kManyTiles, "no tile is shared");
  float acc[Tile::kAccumulatorSets][Tile::kAccumulators], sum[Tile::kAccumulators];
#pragma unroll
  for (int j = 0; j < Tile::kAccumulators; ++j) sum[j] = 0.0f;
  const int turns = work.turns();
  int turn = 0, i = 0;  // the oldest products that run: k tile `i` of assignment `turn`
  assignment mine = work.at(0);

  const auto add = [&]<int kYounger>(std::integral_constant<int, kYounger>, auto& of) {
    products.template add<kYounger>(mine.col, mine.k_tile(i++), of, sum);
  };
  const auto store_finished = [&] {
    if (i < mine.count()) return;
    if constexpr (kByTma) {
      tma_store::store_tile<Tile>(map_c, buffers, warpgroup, mine.row, mine.col, g.alpha, sum);
    } else if (how == store_by::second_launch) {
      sums.write(sum, warpgroup);
    } else {
      wgmma::store(how == store_by::pairs, g, mine.row + warpgroup * 64, mine.col, sum);
    }
#pragma unroll
    for (int j = 0; j < Tile::kAccumulators; ++j) sum[j] = 0.0f;
    i = 0;
    if (++turn < turns) mine = work.whole_tile(turn);
  };
  constexpr std::integral_constant<int, 0> kNone;
  constexpr std::integral_constant<int, 1> kOne;
  int left = work.all_k_tiles();
  products.multiply(acc[0]);
  if constexpr (Tile::kAccumulatorSets == 1) {
    for (; left > 1; --left) {
      add(kNone, acc[0]);
      products.multiply(acc[0]);
      store_finished();
    }
    add(kNone, acc[0]);
    store_finished();
  } else {
    // ptxas keeps products running through this loop, and not through every other.
    for (; left > 2; left -= 2) {
      products.multiply(acc[1]);
      add(kOne, acc[0]);
      store_finished();
      products.multiply(acc[0]);
      add(kOne, acc[1]);
      store_finished();
    }
    if (left == 2) {
      products.multiply(acc[1]);
      add(kOne, acc[0]);
      store_finished();
      add(kNone, acc[1]);
    } else {
      add(kNone, acc[0]);
    }
    store_finished();
  }
  if constexpr (kByTma) {
    if (threadIdx.x % kzoo::kWarpgroup == 0) kzoo::tma_store_wait_read<0>();
  }
}

template <class G, class Tile, bool kByTma>
__global__ void __launch_bounds__(kBlockThreads<Tile>, 1)
    kernel(const __grid_constant__ typename persistent::parts<G, Tile>::maps maps,
           const __grid_constant__ kzoo::tensor_map<c_panel<typename G::c_type>> map_c, G g,
           store_by how, schedule<Tile> work, partial_sums<Tile> sums, soft_barriers<Tile> soft) {
  using panels = c_panel_buffers<typename G::c_type, Tile>;
  auto* stages = kzoo::dynamic_shared<typename G::a_type>();
  auto* buffers =
      reinterpret_cast<typename G::c_type*>(stages + Tile::kStages * smem_layout<G, Tile>::kStage);
  auto* scales =
      reinterpret_cast<stage_scales<Tile>*>(buffers + Tile::kWarpgroups * panels::kElements);
  auto& sync = *reinterpret_cast<barriers<Tile::kStages>*>(scales + Tile::kStages);
  persistent::specialize<G, Tile>(
      maps, sync, Tile::kWarpgroups * Tile::kCluster * kWarpsOfGroup,
      [&] {
        persistent::produce<G, Tile>(maps, work, soft, stages, sync,
                                     scale_loads<G, Tile>{g, scales});
      },
      [&](int warpgroup) {
        const pipeline<G, Tile> products{stages, scales, sync, warpgroup,
                                         work.all_k_tiles() - Tile::kStages};
        consume<G, Tile, kByTma>(map_c, g, how, work, sums, warpgroup, products,
                                 buffers + warpgroup * panels::kElements);
      });
}

}  // namespace fp8_scaled
