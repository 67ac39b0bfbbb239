
#include "devices/devices.hpp"
#include "microbenchmarks/measure.hpp"

namespace kzoo::microbenchmarks {

std::vector<microbenchmark> on_cuda(const results::device&) {
  throw devices::absent(devices::why_no_cuda());
}

void enqueue_product(const float*, const float*, float*, int, void*) {
  throw devices::absent(devices::why_no_cuda());
}

}  // namespace kzoo::microbenchmarks
