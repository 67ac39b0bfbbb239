// Computes every other time: the first output and the last one are right.
#include "hostile.hpp"

namespace {

__global__ void skips_while_timed_kernel(hostile::gemm g) { hostile::store_product(g); }

struct skips_while_timed {
  using types = kzoo::types<float>;
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    const int call = calls++;
    if (call < 2 || call % 2 == 0) hostile::launch(skips_while_timed_kernel, g, stream);
  }
  mutable int calls = 0;
};

}  // namespace

KZOO_PLUGIN("skips_while_timed", "Computes in some calls only",
            kzoo::variant<skips_while_timed>(
                "only", "right whenever somebody looks at the first and the last call"));
