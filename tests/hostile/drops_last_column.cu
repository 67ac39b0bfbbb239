// An edge test that is off by one: the last column of C is never written.
#include "hostile.hpp"

namespace {

__global__ void drops_last_column_kernel(hostile::gemm g) {
  if (hostile::col() < g.n - 1) hostile::store_product(g);
}

struct drops_last_column {
  using types = kzoo::types<float>;
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    hostile::launch(drops_last_column_kernel, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("drops_last_column", "Leaves out the last column",
            kzoo::variant<drops_last_column>("only", "right but for one column"));
