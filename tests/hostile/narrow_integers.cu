// 32-bit integers through instructions for narrower ones: 8-bit inputs, and sums in floats.
#include "hostile.hpp"

namespace {

enum class through { bytes, floats };

template <through kThrough>
__global__ void narrow_kernel(kzoo::gemm<int> g) {
  const int row = hostile::row(), col = hostile::col();
  if (row >= g.m || col >= g.n) return;
  int sum = 0;
  float float_sum = 0;
  for (int i = 0; i < g.k; ++i) {
    const int a = g.a_at(row, i), b = g.b_at(i, col);
    sum += static_cast<signed char>(a) * static_cast<signed char>(b);
    float_sum += static_cast<float>(a) * static_cast<float>(b);
  }
  g.store(row, col, kThrough == through::bytes ? sum : static_cast<int>(float_sum));
}

template <through kThrough>
struct narrow_integers {
  using types = kzoo::types<int>;
  void run(const kzoo::gemm<int>& g, kzoo::stream_t stream) const {
    const dim3 grid(kzoo::ceil_div(g.n, 16), kzoo::ceil_div(g.m, 16));
    kzoo::launch({.grid = grid, .block = dim3(16, 16), .stream = stream}, narrow_kernel<kThrough>,
                 g);
  }
};

}  // namespace

KZOO_PLUGIN("narrow_integers", "Declares int32 and computes in less",
            kzoo::variant<narrow_integers<through::bytes>>("bytes", "as dp4a reads its inputs"),
            kzoo::variant<narrow_integers<through::floats>>("floats", "24 bits of each sum"));
