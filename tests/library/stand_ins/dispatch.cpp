// Has the names of `dispatch` and its variants, and takes every problem. Tests give it that file
// name.

#include <kzoo/plugin.hpp>

namespace {

template <kzoo_precision kPrecision>
struct every {
  using layouts = kzoo::every_layout;
  static constexpr bool batches = true;
  static constexpr kzoo_precision precision = kPrecision;

  template <kzoo::layout kLayout>
  void run(const kzoo::gemm<float, kLayout>& g, kzoo::stream_t) const {
    for (int row = 0; row < g.m; ++row) {
      for (int col = 0; col < g.n; ++col) {
        float sum = 0;
        for (int i = 0; i < g.k; ++i) sum += g.a_at(row, i) * g.b_at(i, col);
        g.store(row, col, sum);
      }
    }
  }
};

}  // namespace

KZOO_PLUGIN("dispatch", "A stand-in",
            kzoo::variant<every<KZOO_COMPUTE_FP32>>("fp32", "the triple loop"),
            kzoo::variant<every<KZOO_COMPUTE_FP32_SPLIT>>("fp32_split", "the same loop"));
