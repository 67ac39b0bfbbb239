// Nothing wrong with it: what the tools of tier paranoid must find nothing in.
#include "hostile.hpp"

namespace {

__global__ void right_kernel(hostile::gemm g) { hostile::store_product(g); }

struct right {
  using types = kzoo::types<float>;
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    hostile::launch(right_kernel, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("right", "Right", kzoo::variant<right>("only", "must pass"));
