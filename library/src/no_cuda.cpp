#include "device.hpp"

#include <kzoo/error.hpp>

namespace kzoo::library {

std::unique_ptr<device> open_cuda() {
  throw error(
      KZOO_UNAVAILABLE,
      "this libkzoo is built without CUDA: options.device = KZOO_CPU, or build it with nvcc");
}

}  // namespace kzoo::library
