// The textbook product on one CPU core: what the sources compare with, and the simplest code here.

#include <kzoo/plugin.hpp>

namespace {

using all_types = kzoo::types<float, int, __half, __nv_bfloat16>;

// One element of C after the other. Each sum runs down a column of B, so neighbouring steps of the
// inner loop are a whole row apart in memory.
struct ijk {
  using types = all_types;

  template <class T>
  void run(const kzoo::gemm<T>& g, kzoo::stream_t) const {
    using sum_type = kzoo::accumulator_t<T>;
    for (int row = 0; row < g.m; ++row) {
      for (int col = 0; col < g.n; ++col) {
        sum_type sum = 0;
        for (int i = 0; i < g.k; ++i) {
          sum += static_cast<sum_type>(g.a_at(row, i)) * static_cast<sum_type>(g.b_at(i, col));
        }
        g.store(row, col, sum);
      }
    }
  }
};

// The inner two loops exchanged: one row of C at a time, and the inner loop runs along a row of B.
// Its sums do not depend on each other, so the compiler computes several at once. They wait in the
// workspace, because C may be narrower than the sums and is not read when beta = 0.
struct ikj {
  using types = all_types;

  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device&) {
    return static_cast<std::size_t>(p.n) * 4;  // float and int
  }

  template <class T>
  void run(const kzoo::gemm<T>& g, const kzoo_arguments& arguments) const {
    using sum_type = kzoo::accumulator_t<T>;
    static_assert(sizeof(sum_type) == 4);
    auto* sums = static_cast<sum_type*>(arguments.workspace);
    for (int row = 0; row < g.m; ++row) {
      std::fill_n(sums, g.n, sum_type(0));
      for (int i = 0; i < g.k; ++i) {
        const auto a = static_cast<sum_type>(g.a_at(row, i));
        const T* b = &g.b_at(i, 0);
        for (int col = 0; col < g.n; ++col) sums[col] += a * static_cast<sum_type>(b[col]);
      }
      for (int col = 0; col < g.n; ++col) g.store(row, col, sums[col]);
    }
  }
};

}  // namespace

KZOO_PLUGIN("serial", "The triple loop on one CPU core",
            kzoo::variant<ijk>("ijk", "rows, columns, then the sum: as every textbook has it"),
            kzoo::variant<ikj>("ikj", "the inner loop along rows of B and C, which vectorises"));
