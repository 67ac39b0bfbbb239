// Threads that leave early and miss a barrier that the others wait at.
#include "hostile.hpp"

namespace {

__global__ void divergent_barrier_kernel(hostile::gemm g) {
  if (threadIdx.y >= blockDim.y / 2) return;
  __syncthreads();
  hostile::store_product(g);
}

struct divergent_barrier {
  using types = kzoo::types<float>;
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    hostile::launch(divergent_barrier_kernel, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("divergent_barrier", "Half the threads return before __syncthreads",
            kzoo::variant<divergent_barrier>("only", "undefined in CUDA"));
