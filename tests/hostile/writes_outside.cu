// A tile stored without an edge test: one element past the end of C is written.
#include "hostile.hpp"

namespace {

__global__ void writes_outside_kernel(hostile::gemm g) {
  hostile::store_product(g);
  if (hostile::row() == 0 && hostile::col() == 0) g.c[g.m * g.ldc] = 0;
}

struct writes_outside {
  using types = kzoo::types<float>;
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    hostile::launch(writes_outside_kernel, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("writes_outside", "Writes one element past the end of C",
            kzoo::variant<writes_outside>("only", "the product itself is right"));
