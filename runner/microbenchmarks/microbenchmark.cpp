#include "microbenchmarks/microbenchmark.hpp"

namespace kzoo::microbenchmarks {

std::vector<microbenchmark> all(const results::device& d) {
  return d.abi.kind == KZOO_CUDA ? cuda(d) : cpu();
}

}  // namespace kzoo::microbenchmarks
