#include "microbenchmarks/microbenchmark.hpp"

namespace kzoo::microbenchmarks {

std::vector<microbenchmark> all(const results::device& d) {
  return d.abi.kind == KZOO_CUDA ? on_cuda(d) : on_cpu();
}

}  // namespace kzoo::microbenchmarks
