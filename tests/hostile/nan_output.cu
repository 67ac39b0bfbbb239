// One NaN in the middle: it slips through every comparison of the kind |ref - x| > tolerance.
#include "hostile.hpp"

namespace {

__global__ void nan_output_kernel(hostile::gemm g) {
  hostile::store_product(g);
  if (hostile::row() == g.m / 2 && hostile::col() == g.n / 2) {
    g.store(g.m / 2, g.n / 2, nanf(""));
  }
}

struct nan_output {
  using types = kzoo::types<float>;
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    hostile::launch(nan_output_kernel, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("nan_output", "Makes one element NaN",
            kzoo::variant<nan_output>("only", "fabs(NaN) > tolerance is false"));
