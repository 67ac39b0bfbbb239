// Scratch data kept in an input: the product is right, but A is not what it was.
#include "hostile.hpp"

namespace {

__global__ void product_kernel(hostile::gemm g) { hostile::store_product(g); }
__global__ void change_kernel(float* a) { *a += 1; }

struct writes_input {
  using types = kzoo::types<float>;
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    hostile::launch(product_kernel, g, stream);
    kzoo::launch({.grid = dim3(1), .block = dim3(1), .stream = stream}, change_kernel,
                 const_cast<float*>(g.a));
  }
};

}  // namespace

KZOO_PLUGIN("writes_input", "Changes the first element of A",
            kzoo::variant<writes_input>("only", "the product itself is right"));
