// One row of a large C is off by one: nobody sees it who looks at other rows only.
#include "hostile.hpp"

namespace {

__global__ void wrong_row_kernel(hostile::gemm g) {
  constexpr int kRow = 39, kLarge = 1 << 20;
  hostile::store_product(g);
  const bool wrong = hostile::row() == kRow && hostile::col() < g.n && g.n >= kLarge;
  if (wrong) g.c[kRow * g.ldc + hostile::col()] += 1;
}

struct wrong_row {
  using types = kzoo::types<float>;
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    hostile::launch(wrong_row_kernel, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("wrong_row", "Adds 1 to row 39 of a large C",
            kzoo::variant<wrong_row>("only", "right where the referee computes all of C"));
