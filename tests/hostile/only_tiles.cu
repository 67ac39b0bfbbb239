// A grid that is rounded down: what does not fill a tile is not computed.
#include "hostile.hpp"

namespace {

__global__ void only_tiles_kernel(hostile::gemm g) {
  const int rows = g.m / 16 * 16, cols = g.n / 16 * 16;
  if (hostile::row() < rows && hostile::col() < cols) hostile::store_product(g);
}

struct only_tiles {
  using types = kzoo::types<float>;
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    hostile::launch(only_tiles_kernel, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("only_tiles", "Right for multiples of the tile only",
            kzoo::variant<only_tiles>("only", "sizes are rounded down"));
