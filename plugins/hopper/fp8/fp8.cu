// The ladder's last step in fp8: operands of 8 bits, twice as many products in each instruction,
// and sums that do not stay in the tensor cores.

#include <hopper/persistent/variant.hpp>

#include "promotion.hpp"

namespace fp8 {

using types = kzoo::types<kzoo::to<__nv_fp8_e4m3, float>, kzoo::to<__nv_fp8_e4m3, __nv_bfloat16>,
                          kzoo::mixed<__nv_fp8_e4m3, __nv_fp8_e5m2, __nv_bfloat16>,
                          kzoo::mixed<__nv_fp8_e5m2, __nv_fp8_e4m3, __nv_bfloat16>>;

// A k tile of 128 bytes is 128 long. Sums and accumulators leave no registers for a finished tile
// of C: it goes to shared memory at once, in CPanels panels.
template <int BN, int Stages, int ClusterM, bool ManyTiles, int CPanels>
struct tiling : persistent::clustered<128, BN, Stages, ClusterM, 1, ManyTiles, 128> {
  static constexpr bool kDeferred = false;
  static constexpr int kCPanels = CPanels;
  static constexpr bool kFloatsByTma = true;

  template <class G, class Release, class Meanwhile>
  static __device__ __forceinline__ void consume(const typename G::a_type* stages,
                                                 barriers<Stages>& sync,
                                                 pipeline_state<Stages>& state, int k_tiles,
                                                 int warpgroup, Release release, Meanwhile,
                                                 float (&acc)[BN / 2]) {
    fp8::consume<G, tiling>(stages, sync, state, k_tiles, warpgroup, release, acc);
  }
};

// Tensor cores take 8-bit operands with K along their rows alone.
template <class Tile>
struct variant : persistent::variant<Tile, types, kzoo::layouts<kzoo::layout::nt>> {
  using base = persistent::variant<Tile, types, kzoo::layouts<kzoo::layout::nt>>;
  using base::base;
  static constexpr kzoo_precision precision = KZOO_COMPUTE_FP8;
  static constexpr kzoo::granularity granularity{.row_bytes = 16};

  static const char* supports(const kzoo_device& d) { return base::supports(d); }
  static const char* supports(const kzoo_problem& p, const kzoo_device&) {
    return p.alignment % 16 == 0 ? nullptr : "its matrices have to start at multiples of 16 bytes";
  }
};

}  // namespace fp8

using fp8::tiling;

KZOO_PLUGIN("fp8", "persistent in fp8, promoted to fp32 sums",
            kzoo::variant<fp8::variant<tiling<128, 6, 1, false, 2>>>(
                "128x128x128", "6 stages; for matrices of up to a few waves"),
            kzoo::variant<fp8::variant<tiling<192, 4, 2, true, 3>>>(
                "128x192x128_2x1", "4 stages, clusters of two; for large matrices"));
