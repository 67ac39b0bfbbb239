// persistent with an epilogue: bias, residual, activations and scales, applied to the accumulators
// before C is stored. For a C of 16-bit elements.

#include <hopper/persistent/variant.hpp>

#include "finished.hpp"

namespace fused_persistent {

using types = kzoo::types<__half, __nv_bfloat16>;

struct finishing_kernel : persistent::own_kernel {
  template <class G>
  using argument = finished<G>;
};

template <class Tile>
struct variant : persistent::variant<Tile, types, kzoo::every_layout, finishing_kernel> {
  using base = persistent::variant<Tile, types, kzoo::every_layout, finishing_kernel>;
  using base::base;
  static constexpr bool epilogues = true;

  template <class T, kzoo::layout kLayout>
  void run(const kzoo::gemm<T, kLayout>& g, const kzoo_arguments& arguments) const {
    base::run(finished<kzoo::gemm<T, kLayout>>(g, {}), arguments);
  }
  template <class T, kzoo::layout kLayout>
  void run(const kzoo::fused_gemm<T, kLayout>& g, const kzoo_arguments& arguments) const {
    base::run(finished<kzoo::gemm<T, kLayout>>(g, g.finish), arguments);
  }
};

}  // namespace fused_persistent

using fused_persistent::variant;
using persistent::clustered;

KZOO_PLUGIN("fused_persistent", "persistent with an epilogue, applied before C is stored",
            kzoo::variant<variant<clustered<64, 128, 8, 1, 1, false>>>(
                "64x128x64", "one consumer, 8 stages; for matrices with few tiles"),
            kzoo::variant<variant<clustered<128, 256, 4, 1, 1, false>>>(
                "128x256x64", "two consumers, 4 stages; for matrices of about one wave"),
            kzoo::variant<variant<clustered<128, 256, 4, 2, 1, true>>>(
                "128x256x64_2x1", "the same in clusters of two; for large matrices"));
