// A wild pointer: SIGSEGV on the cpu, an illegal address that poisons the context on cuda.
#include "hostile.hpp"

namespace {

__global__ void segfault_kernel(hostile::gemm g) {
  volatile float* volatile nowhere = nullptr;  // volatile twice, or the optimiser saves us
  *nowhere = g.alpha;
}

struct segfault {
  using types = kzoo::types<float>;
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    hostile::launch(segfault_kernel, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("segfault", "Writes through a null pointer",
            kzoo::variant<segfault>("only", "the process or its CUDA context is gone"));
