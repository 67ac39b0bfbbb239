
#include "devices/backend.hpp"
#include "devices/devices.hpp"

namespace kzoo::devices {

std::vector<results::device> list_cuda() { return {}; }

std::string why_no_cuda() {
  return "This kernel-zoo was built without CUDA. Install the CUDA toolkit and build again, or run "
         "with --device cpu.";
}

std::uint64_t free_cuda_memory(int) { throw absent(why_no_cuda()); }

std::unique_ptr<backend> open_cuda(int) { throw absent(why_no_cuda()); }

}  // namespace kzoo::devices
