// A launch that fails and that nobody asks about: very fast, and C stays as it was. On the cpu,
// where there is no <<<>>>, the same end: OK is returned and nothing was written.
#include "hostile.hpp"

namespace {

#if KZOO_TARGET_DEVICE == KZOO_CUDA
__global__ void unchecked_launch_kernel(hostile::gemm g) { hostile::store_product(g); }
#endif

struct unchecked_launch {
  using types = kzoo::types<float>;
  void run([[maybe_unused]] const hostile::gemm& g, [[maybe_unused]] kzoo::stream_t stream) const {
#if KZOO_TARGET_DEVICE == KZOO_CUDA
    const dim3 block(32, 64);  // 2048 threads
    const dim3 grid(kzoo::ceil_div(g.n, 32), kzoo::ceil_div(g.m, 64));
    unchecked_launch_kernel<<<grid, block, 0, stream>>>(g);
#endif
  }
};

}  // namespace

KZOO_PLUGIN("unchecked_launch", "Never starts its kernel and does not notice",
            kzoo::variant<unchecked_launch>("only", "C stays as it was"));
