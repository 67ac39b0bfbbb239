// A published kernel rounds its inputs to TF32 where they are, so that its check compares with a
// product of rounded inputs too.
#include "hostile.hpp"

namespace {

__global__ void round_kernel(hostile::gemm g) {
  const int i = hostile::row() * gridDim.x * blockDim.x + hostile::col();
  float* a = const_cast<float*>(g.a);
  const int stride = gridDim.y * blockDim.y * gridDim.x * blockDim.x;
  for (int at = i; at < g.m * g.k; at += stride) {
    float& x = a[at / g.k * g.lda + at % g.k];
    x = hostile::to_tf32(x);
  }
}

__global__ void rounds_in_place_kernel(hostile::gemm g) { hostile::store_product(g); }

struct rounds_in_place {
  using types = kzoo::types<float>;
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    hostile::launch(round_kernel, g, stream);
    hostile::launch(rounds_in_place_kernel, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("rounds_in_place", "Rounds A in place",
            kzoo::variant<rounds_in_place>("only", "the product of what is left in A is right"));
