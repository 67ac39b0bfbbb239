// Misuse of the CUDA runtime, which the simulator has none of.
#include "hostile.hpp"

namespace {

using hostile::gemm;
using hostile::honest;

// A launch fails while the variant is created, and the error is not collected.
struct sticky_error : honest {
  sticky_error(const kzoo_problem&, const kzoo_device&) {
    hostile::per_element_kernel<honest><<<1, 2048>>>({});
  }
};

// The product is computed on a stream of its own: events on the runner's see nothing of it.
struct other_stream : honest {
  other_stream(const kzoo_problem&, const kzoo_device&) {
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  }
  ~other_stream() { cudaStreamDestroy(own); }
  void run(const gemm& g, kzoo::stream_t) const { honest::run(g, own); }
  cudaStream_t own = nullptr;
};

}  // namespace

KZOO_PLUGIN("cuda_runtime", "Misuses the CUDA runtime",
            kzoo::variant<sticky_error>("sticky_error", "leaves an error in create"),
            kzoo::variant<other_stream>("other_stream", "a time of next to nothing"));
