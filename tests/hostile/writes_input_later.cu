// Leaves its inputs alone the first time, and changes A from then on: seen only by whoever looks
// after timing. The second variant is honest, and must not suffer for the first.
#include "hostile.hpp"

namespace {

__global__ void honest_kernel(hostile::gemm g) { hostile::store_product(g); }

__global__ void spoil_kernel(hostile::gemm g) {
  // Written after the product, in a launch of its own: the result stays right for now.
  if (hostile::row() == 0 && hostile::col() == 0) const_cast<float*>(g.a)[g.m * g.lda - 1] += 1;
}

struct writes_input_later {
  using types = kzoo::types<float>;
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    hostile::launch(honest_kernel, g, stream);
    if (++calls > 1) hostile::launch(spoil_kernel, g, stream);
  }
  mutable int calls = 0;
};

struct honest {
  using types = kzoo::types<float>;
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    hostile::launch(honest_kernel, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("writes_input_later", "Changes A only when it is timed",
            kzoo::variant<writes_input_later>("later", "must be wrong"),
            kzoo::variant<honest>("honest", "must pass"));
