// A tile of A loaded without an edge test, and a mask that multiplies by zero.
#include "hostile.hpp"

namespace {

__global__ void reads_outside_kernel(hostile::gemm g) {
  const int row = hostile::row(), col = hostile::col();
  if (row >= g.m || col >= g.n) return;
  float sum = 0;
  for (int i = 0; i <= g.k; ++i) {
    const float b = i < g.k ? g.b_at(i, col) : 0;
    sum += g.a_at(row, i) * b;
  }
  g.store(row, col, sum);
}

struct reads_outside {
  using types = kzoo::types<float>;
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    hostile::launch(reads_outside_kernel, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("reads_outside", "Reads one element past each row of A",
            kzoo::variant<reads_outside>("only", "harmless as long as a number is there"));
