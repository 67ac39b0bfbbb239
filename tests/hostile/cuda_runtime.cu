// Misuse of the CUDA runtime, which the simulator does not have.
#include "hostile.hpp"

namespace {

using hostile::gemm;
using hostile::honest;

// A launch fails in create, and the error is not fetched with cudaGetLastError.
struct sticky_error : honest {
  sticky_error(const kzoo_problem&, const kzoo_device&) {
    hostile::per_element_kernel<honest><<<1, 2048>>>({});
  }
};

// Computes on a stream of its own, so that events on the runner's stream measure nothing.
struct other_stream : honest {
  other_stream(const kzoo_problem&, const kzoo_device&) {
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  }
  ~other_stream() { cudaStreamDestroy(own); }
  void run(const gemm& g, kzoo::stream_t) const { honest::run(g, own); }
  cudaStream_t own = nullptr;
};

// Forgets the stream: the likeliest mistake of all.
struct default_stream : honest {
  void run(const gemm& g, kzoo::stream_t) const { honest::run(g, nullptr); }
};

// Keeps memory from each instance.
struct leaks : honest {
  leaks(const kzoo_problem&, const kzoo_device&) {
    constexpr std::size_t kBytes = 32 << 20;
    void* kept = nullptr;
    cudaMalloc(&kept, kBytes);
  }
};

}  // namespace

KZOO_PLUGIN("cuda_runtime", "Misuses the CUDA runtime",
            kzoo::variant<sticky_error>("sticky_error", "leaves an error in create"),
            kzoo::variant<other_stream>("other_stream", "measured time close to 0"),
            kzoo::variant<leaks>("leaks", "32 MB each time"),
            kzoo::variant<default_stream>("default_stream", "launches on the default stream"));
