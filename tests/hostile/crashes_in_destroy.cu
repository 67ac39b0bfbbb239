// Right, until it is destroyed.
#include "hostile.hpp"

#include <cstdlib>

namespace {

__global__ void crashes_in_destroy_kernel(hostile::gemm g) { hostile::store_product(g); }

struct crashes_in_destroy {
  using types = kzoo::types<float>;
  ~crashes_in_destroy() { std::abort(); }
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    hostile::launch(crashes_in_destroy_kernel, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("crashes_in_destroy", "Aborts when its instance goes away",
            kzoo::variant<crashes_in_destroy>("only", "must not be the next one's fault"));
