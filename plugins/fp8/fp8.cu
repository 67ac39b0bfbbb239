// The ladder's last step in fp8: operands of 8 bits, twice as many products in each instruction, and
// sums that leave the tensor cores after every k tile.

#include <persistent/variant.hpp>

#include "promotion.hpp"

namespace fp8 {

using types = kzoo::types<kzoo::to<__nv_fp8_e4m3, __nv_bfloat16>,
                          kzoo::mixed<__nv_fp8_e4m3, __nv_fp8_e5m2, __nv_bfloat16>,
                          kzoo::mixed<__nv_fp8_e5m2, __nv_fp8_e4m3, __nv_bfloat16>>;

// Sums and accumulators of 64 x 192 are 192 registers of a thread: none are left to hold a finished
// tile, so all of it goes to shared memory at once.
template <int BN, int Stages, int ClusterM, bool Shared, int Panels, int Interval>
struct tiling : persistent::clustered<128, BN, Stages, ClusterM, 1, Shared, 128> {
  static constexpr bool kDeferred = false;
  static constexpr int kOutPanels = Panels, kInterval = Interval;

  template <class G, class Release, class Meanwhile>
  static __device__ __forceinline__ void consume(const typename G::a_type* stages,
                                                 barriers<Stages>& sync, position<Stages>& at,
                                                 int k_tiles, int warpgroup, Release release,
                                                 Meanwhile, float (&acc)[BN / 2]) {
    fp8::consume<G, tiling>(stages, sync, at, k_tiles, warpgroup, release, acc);
  }
};

template <class S>
struct variant : persistent::variant<S, types, kzoo::layouts<kzoo::layout::nt>> {
  using base = persistent::variant<S, types, kzoo::layouts<kzoo::layout::nt>>;
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

KZOO_PLUGIN("fp8", "The last step of the tensor core ladder in fp8, promoted to fp32 sums",
            kzoo::variant<fp8::variant<tiling<192, 4, 1, false, 3, 1>>>("s4_1x1", "a"),
            kzoo::variant<fp8::variant<tiling<192, 4, 2, false, 3, 1>>>("s4_2x1", "b"),
            kzoo::variant<fp8::variant<tiling<192, 5, 1, false, 1, 1>>>("s5_1x1", "c"),
            kzoo::variant<fp8::variant<tiling<192, 5, 2, false, 1, 1>>>("s5_2x1", "d"),
            kzoo::variant<fp8::variant<tiling<192, 5, 1, false, 1, 2>>>("s5_1x1_i2", "d"),
            kzoo::variant<fp8::variant<tiling<192, 5, 2, false, 1, 2>>>("s5_2x1_i2", "d"),
            kzoo::variant<fp8::variant<tiling<192, 5, 2, false, 1, 4>>>("s5_2x1_i4", "d"));
