// A kernel that spins for ever, as one does that waits for a flag nobody sets.
#include "hostile.hpp"

namespace {

__global__ void never_returns_kernel(hostile::gemm g) {
  const volatile int* flag = reinterpret_cast<const volatile int*>(g.a);
  const int before = *flag;
  while (*flag == before) {
  }
}

struct never_returns {
  using types = kzoo::types<float>;
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    hostile::launch(never_returns_kernel, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("never_returns", "Never ends",
            kzoo::variant<never_returns>("only", "only killing the process helps"));
