// A tile of A padded in place: what lies behind A is overwritten.
#include "hostile.hpp"

namespace {

__global__ void writes_around_input_kernel(hostile::gemm g) {
  hostile::store_product(g);
  if (hostile::row() == 0 && hostile::col() == 0) const_cast<float*>(g.a)[g.m * g.lda] = 0;
}

struct writes_around_input {
  using types = kzoo::types<float>;
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    hostile::launch(writes_around_input_kernel, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("writes_around_input", "Writes one element past the end of A",
            kzoo::variant<writes_around_input>("only", "A itself stays as it was"));
