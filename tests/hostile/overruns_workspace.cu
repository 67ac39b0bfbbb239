// A scratch buffer that is one element too small.
#include "hostile.hpp"

namespace {

__global__ void overruns_workspace_kernel(hostile::gemm g, float* scratch) {
  hostile::store_product(g);
  if (hostile::row() == 0 && hostile::col() < 16) scratch[g.n + hostile::col() - 15] = 0;
}

struct overruns_workspace {
  using types = kzoo::types<float>;
  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device&) {
    return static_cast<std::size_t>(p.n) * sizeof(float);
  }
  void run(const hostile::gemm& g, const kzoo_arguments& arguments) const {
    const dim3 grid(kzoo::ceil_div(g.n, 16), kzoo::ceil_div(g.m, 16));
    kzoo::launch({.grid = grid,
                  .block = dim3(16, 16),
                  .stream = static_cast<kzoo::stream_t>(arguments.stream)},
                 overruns_workspace_kernel, g, static_cast<float*>(arguments.workspace));
  }
};

}  // namespace

KZOO_PLUGIN("overruns_workspace", "Writes past its workspace",
            kzoo::variant<overruns_workspace>("only", "the product itself is right"));
