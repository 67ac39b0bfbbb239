// Computes when it is called first, and leaves it at that: whoever times without looking sees a
// record.
#include "hostile.hpp"

namespace {

__global__ void stale_output_kernel(hostile::gemm g) { hostile::store_product(g); }

struct stale_output {
  using types = kzoo::types<float>;
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    if (calls++ == 0) hostile::launch(stale_output_kernel, g, stream);
  }
  mutable int calls = 0;
};

}  // namespace

KZOO_PLUGIN("stale_output", "Computes in its first call only",
            kzoo::variant<stale_output>("only", "C holds the right result of the previous call"));
