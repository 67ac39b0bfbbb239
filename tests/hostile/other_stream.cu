// The product on a stream of its own: events on the runner's stream see nothing of it.
#include "hostile.hpp"

namespace {

__global__ void other_stream_kernel(hostile::gemm g) { hostile::store_product(g); }

struct other_stream {
  using types = kzoo::types<float>;
  other_stream(const kzoo_problem&, const kzoo_device&) {
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  }
  ~other_stream() { cudaStreamDestroy(own); }
  void run(const hostile::gemm& g, kzoo::stream_t) const {
    hostile::launch(other_stream_kernel, g, own);
  }
  cudaStream_t own = nullptr;
};

}  // namespace

KZOO_PLUGIN("other_stream", "Works on another stream",
            kzoo::variant<other_stream>("only", "a time of next to nothing"));
