// The textbook product on one CPU core: the baseline of the sources, and the simplest code here.

#include <kzoo/plugin.hpp>

namespace {

// One element of C after the other. The inner loop runs down a column of B, so neighbouring steps
// are a whole row apart in memory.
struct ijk {
  using types = kzoo::every_type;
  using layouts = kzoo::every_layout;
  static constexpr bool batches = true;

  template <class T, kzoo::layout kLayout>
  void run(const kzoo::gemm<T, kLayout>& g, kzoo::stream_t) const {
    using accumulator = kzoo::accumulator_t<T>;
    for (int row = 0; row < g.m; ++row) {
      for (int col = 0; col < g.n; ++col) {
        accumulator acc = 0;
        for (int i = 0; i < g.k; ++i) {
          acc += g.product(g.a_at(row, i), g.b_at(i, col));
        }
        g.store(row, col, acc);
      }
    }
  }
};

// The inner two loops exchanged: one row of C at a time, and the inner loop runs along a row of B.
// Its accumulators do not depend on each other, so the compiler vectorises it. They are in the
// workspace, because C may have a narrower type and is not read when beta = 0.
struct ikj {
  using types = kzoo::types<float, int, __half, __nv_bfloat16>;
  using layouts = kzoo::every_layout;
  static constexpr bool batches = true;

  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device&) {
    return static_cast<std::size_t>(p.n) * sizeof(float);
  }

  template <class T, kzoo::layout kLayout>
  void run(const kzoo::gemm<T, kLayout>& g, const kzoo_arguments& arguments) const {
    using accumulator = kzoo::accumulator_t<T>;
    static_assert(sizeof(accumulator) == sizeof(float));
    auto* acc = static_cast<accumulator*>(arguments.workspace);
    for (int row = 0; row < g.m; ++row) {
      std::fill_n(acc, g.n, accumulator(0));
      for (int i = 0; i < g.k; ++i) {
        const auto a = static_cast<accumulator>(g.a_at(row, i));
        const auto* b = &g.b_at(i, 0);
        const std::ptrdiff_t step = g.kBTransposed ? g.ldb : 1;
        for (int col = 0; col < g.n; ++col) acc[col] += a * static_cast<accumulator>(b[col * step]);
      }
      for (int col = 0; col < g.n; ++col) g.store(row, col, acc[col]);
    }
  }
};

}  // namespace

KZOO_PLUGIN("serial", "The triple loop on one CPU core",
            kzoo::variant<ijk>("ijk", "one element of C at a time, as in every textbook"),
            kzoo::variant<ikj>("ikj", "the inner loop along rows of B and C, which vectorises"));
