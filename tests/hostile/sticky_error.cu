// A launch that fails while the plugin prepares itself, and an error that nobody collects.
#include "hostile.hpp"

namespace {

__global__ void sticky_error_kernel(hostile::gemm g) { hostile::store_product(g); }

struct sticky_error {
  using types = kzoo::types<float>;
  sticky_error(const kzoo_problem&, const kzoo_device&) { sticky_error_kernel<<<1, 2048>>>({}); }
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    hostile::launch(sticky_error_kernel, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("sticky_error", "Leaves an error in create",
            kzoo::variant<sticky_error>("only", "the product itself is right"));
