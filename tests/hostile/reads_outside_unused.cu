// Reads one element past the end of A and does nothing with it: C is right, and the next allocation
// may be one where that address is not there.
#include "hostile.hpp"

namespace {

__global__ void reads_outside_unused_kernel(hostile::gemm g) {
  hostile::store_product(g);
  const volatile float* past = g.a + g.m * g.lda;
  if (hostile::row() == 0 && hostile::col() == 0) static_cast<void>(*past);
}

struct reads_outside_unused {
  using types = kzoo::types<float>;
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    hostile::launch(reads_outside_unused_kernel, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("reads_outside_unused", "Reads past the end of A in vain",
            kzoo::variant<reads_outside_unused>("only", "only AddressSanitizer sees it"));
