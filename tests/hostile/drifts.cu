// Sums in another order every time, right each time: fine where it is declared.
#include "hostile.hpp"

namespace {

__global__ void drifts_kernel(hostile::gemm g, int from) {
  const int row = hostile::row(), col = hostile::col();
  if (row >= g.m || col >= g.n) return;
  float sum = 0;
  for (int i = 0; i < g.k; ++i) {
    const int k = (i + from) % g.k;
    sum += g.a_at(row, k) * g.b_at(k, col);
  }
  g.store(row, col, sum);
}

template <bool kDeclared>
struct drifts {
  using types = kzoo::types<float>;
  static constexpr bool nondeterministic = kDeclared;
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    const dim3 grid(kzoo::ceil_div(g.n, 16), kzoo::ceil_div(g.m, 16));
    kzoo::launch({.grid = grid, .block = dim3(16, 16), .stream = stream}, drifts_kernel, g,
                 runs++ % g.k);
  }
  mutable int runs = 0;
};

}  // namespace

KZOO_PLUGIN("drifts", "Never the same rounding twice",
            kzoo::variant<drifts<false>>("undeclared", "must be found"),
            kzoo::variant<drifts<true>>("declared", "must pass"));
