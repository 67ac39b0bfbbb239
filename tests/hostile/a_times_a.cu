// The wrong argument: A is passed for B, as in source D0's first kernel.
#include "hostile.hpp"

namespace {

__global__ void a_times_a_kernel(hostile::gemm g) {
  if (hostile::row() >= g.m || hostile::col() >= g.n) return;
  float sum = 0;  // indices wrap, so that matrices that are not square fail in the same way
  for (int i = 0; i < g.k; ++i) {
    sum += g.a_at(hostile::row(), i) * g.a_at(i % g.m, hostile::col() % g.k);
  }
  g.store(hostile::row(), hostile::col(), sum);
}

struct a_times_a {
  using types = kzoo::types<float>;
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    hostile::launch(a_times_a_kernel, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("a_times_a", "Multiplies A by A", kzoo::variant<a_times_a>("only", "wrong everywhere"));
