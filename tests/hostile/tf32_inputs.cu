// What a tensor core makes of fp32 inputs, and fp32 declared all the same.
#include "hostile.hpp"

namespace {

__global__ void tf32_inputs_kernel(hostile::gemm g) {
  const int row = hostile::row(), col = hostile::col();
  if (row >= g.m || col >= g.n) return;
  float sum = 0;
  for (int i = 0; i < g.k; ++i)
    sum += hostile::to_tf32(g.a_at(row, i)) * hostile::to_tf32(g.b_at(i, col));
  g.store(row, col, sum);
}

struct tf32_inputs {
  using types = kzoo::types<float>;
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    hostile::launch(tf32_inputs_kernel, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("tf32_inputs", "Drops 13 bits of each input",
            kzoo::variant<tf32_inputs>("only", "declares fp32"));
