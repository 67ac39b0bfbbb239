// One element of a large C is never written.
#include "hostile.hpp"

namespace {

__global__ void one_unwritten_kernel(hostile::gemm g) {
  const bool last = hostile::row() == g.m - 1 && hostile::col() == g.n - 1;
  if (!last || g.n < 1024) hostile::store_product(g);
}

struct one_unwritten {
  using types = kzoo::types<float>;
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    hostile::launch(one_unwritten_kernel, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("one_unwritten", "Leaves out the last element of large matrices",
            kzoo::variant<one_unwritten>("only", "one of 16 million"));
