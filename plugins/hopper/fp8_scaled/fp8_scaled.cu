// fp8 with a scale for each block of A and B, as DeepSeek-V3 has it: 1 x 128 of A, 128 x 128 of B.

#include <hopper/persistent/variant.hpp>

#include "kernel.hpp"

namespace fp8_scaled {

using types = kzoo::types<kzoo::to<__nv_fp8_e4m3, float>, kzoo::to<__nv_fp8_e4m3, __nv_bfloat16>>;
using layouts = kzoo::layouts<kzoo::layout::nt>;  // tensor cores take 8-bit operands along K alone

// Products: a consumer's main loop, of products.hpp. CPanels: buffers of a warpgroup for C.
template <template <class, class> class Products, int BM, int BN, int Stages, int CPanels>
struct tiling : persistent::clustered<BM, BN, Stages, 1, 1, false, kBlock> {
  static constexpr int kCPanels = CPanels;
  template <class G>
  using products = Products<G, tiling>;
};

struct scaled_kernel {
  template <class G>
  using argument = kzoo::scaled_gemm<typename G::element, kzoo::layout::nt>;
  template <class G, class Tile>
  static constexpr std::size_t kBytes = shared_layout<G, Tile>::kBytes;
  template <class G, class Tile, bool kByTma>
  static constexpr auto kernel = fp8_scaled::kernel<G, Tile, kByTma>;
};

template <class Tile>
struct variant : persistent::variant<Tile, types, layouts, scaled_kernel> {
  using base = persistent::variant<Tile, types, layouts, scaled_kernel>;
  using base::base;
  static constexpr bool block_scales = true;
  static constexpr kzoo_precision precision = KZOO_COMPUTE_FP8;
  static constexpr kzoo::granularity granularity{.row_bytes = 16};

  static const char* supports(const kzoo_device& d) { return base::supports(d); }
  static const char* supports(const kzoo_problem& p, const kzoo_device&) {
    if (!kzoo::has_scale_blocks(p, {1, kBlock}, {kBlock, kBlock}))
      return "it takes a scale for each 1 x 128 of A, and for each 128 x 128 of B";
    return p.alignment % 16 == 0 ? nullptr : "its matrices have to start at multiples of 16 bytes";
  }

  template <kzoo::block_scaled G>
  void run(const G& g, const kzoo_arguments& arguments) const {
    base::run(g, arguments);
  }
};

}  // namespace fp8_scaled

using fp8_scaled::tiling;

KZOO_PLUGIN("fp8_scaled", "fp8 with a scale for each block of A and B, promoted to fp32 sums",
            kzoo::variant<fp8_scaled::variant<tiling<fp8_scaled::two_sets, 64, 128, 8, 2>>>(
                "64x128x128", "one consumer, 8 stages; for few rows"),
            kzoo::variant<fp8_scaled::variant<tiling<fp8_scaled::one_set, 128, 192, 4, 3>>>(
                "128x192x128", "two consumers, 4 stages; where its tiles fill waves better"),
            kzoo::variant<fp8_scaled::variant<tiling<fp8_scaled::in_parts, 128, 256, 4, 2>>>(
                "128x256x128", "the same, 64 columns at a time; for large matrices"));
