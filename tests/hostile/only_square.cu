// Rows of B counted with the stride of A: right where K = N.
#include "hostile.hpp"

namespace {

__global__ void only_square_kernel(hostile::gemm g) {
  const int row = hostile::row(), col = hostile::col();
  if (row >= g.m || col >= g.n) return;
  float sum = 0;
  for (int i = 0; i < g.k; ++i) sum += g.a_at(row, i) * g.b[i * g.lda + col];
  g.store(row, col, sum);
}

struct only_square {
  using types = kzoo::types<float>;
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    hostile::launch(only_square_kernel, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("only_square", "Right for square matrices only",
            kzoo::variant<only_square>("only", "one stride for all matrices"));
