#pragma once
// A consumer's main loop for fp8. Tensor cores keep about 14 bits of such a sum, so each k tile's
// products, 128 along K, are a sum of their own, which is added in fp32 to a second set of registers.

#include <persistent/kernel.hpp>

namespace fp8 {

using warp_specialized::barriers;
using warp_specialized::position;

// sum = the products of `k_tiles` stages from `at` on.
template <class G, class S, class Release>
__device__ __forceinline__ void consume(const typename G::a_type* stages,
                                        barriers<S::kStages>& sync, position<S::kStages>& at,
                                        int k_tiles, int warpgroup, Release release,
                                        float (&sum)[S::kAccumulators]) {
#pragma unroll
  for (float& x : sum) x = 0.0f;
  for (int k_tile = 0; k_tile < k_tiles; k_tile += S::kInterval) {
    float acc[S::kAccumulators];
    int last = 0;
#pragma unroll
    for (int i = 0; i < S::kInterval; ++i) {
      if (k_tile + i >= k_tiles) break;
      sync.full[at.stage].wait(at.parity);
      wgmma::multiply_k_tile<G, S>(stages + at.stage * wgmma::layout<G, S>::kStage, warpgroup * 64,
                                   i == 0, acc);
      if (i > 0) {
        kzoo::wgmma_wait<1>();
        release(last);
      }
      last = at.stage;
      at.advance();
    }
    kzoo::wgmma_wait<0>(acc);
    release(last);
#pragma unroll
    for (int i = 0; i < S::kAccumulators; ++i) sum[i] += acc[i];
  }
}

}  // namespace fp8
