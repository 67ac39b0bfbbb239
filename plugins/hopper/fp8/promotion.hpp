#pragma once
// A consumer's main loop for fp8. Tensor cores keep about 14 bits of such a sum, so the products of
// every kInterval k tiles are a sum of their own, which is added in fp32 to a second set of
// registers (promotion).

#include <hopper/persistent/kernel.hpp>

namespace fp8 {

using warp_specialized::barriers;
using warp_specialized::pipeline_state;

// 256 along K. After 128, as cuBLASLt does it, both consumers often add at the same time, and the
// tensor cores wait; after 512 the error exceeds the bound.
inline constexpr int kInterval = 2;

// sum += the products of kTiles stages from `state` on. How many there are is known to the
// compiler, and so is which of them are the first.
template <class G, class Tile, int kTiles, class Release>
__device__ __forceinline__ void add_products(const typename G::a_type* stages,
                                             barriers<Tile::kStages>& sync,
                                             pipeline_state<Tile::kStages>& state, int warpgroup,
                                             Release release, float (&sum)[Tile::kAccumulators]) {
  float acc[Tile::kAccumulators];
  int last = 0;
#pragma unroll
  for (int i = 0; i < kTiles; ++i) {
    sync.full[state.stage].wait(state.parity);
    wgmma::multiply_k_tile<G, Tile>(stages + state.stage * wgmma::smem_layout<G, Tile>::kStage,
                                    warpgroup * 64, i == 0, acc);
    if (i > 0) {
      kzoo::wgmma_wait<1>();
      release(last);
    }
    last = state.stage;
    state.advance();
  }
  kzoo::wgmma_wait<0>(acc);
  release(last);
#pragma unroll
  for (int i = 0; i < Tile::kAccumulators; ++i) sum[i] += acc[i];
}

// sum = the products of `k_tiles` stages from `state` on. With no more than one interval there is
// nothing that errors could average out over: then each k tile is added.
template <class G, class Tile, class Release>
__device__ __forceinline__ void consume(const typename G::a_type* stages,
                                        barriers<Tile::kStages>& sync,
                                        pipeline_state<Tile::kStages>& state, int k_tiles,
                                        int warpgroup, Release release,
                                        float (&sum)[Tile::kAccumulators]) {
#pragma unroll
  for (float& x : sum) x = 0.0f;
  int left = k_tiles;
  if (k_tiles > kInterval) {
    for (; left >= kInterval; left -= kInterval) {
      add_products<G, Tile, kInterval>(stages, sync, state, warpgroup, release, sum);
    }
  }
  for (; left > 0; --left) add_products<G, Tile, 1>(stages, sync, state, warpgroup, release, sum);
}

}  // namespace fp8
