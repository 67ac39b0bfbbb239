#include "device.hpp"

#include <kzoo/kzoo.h>
#include <kzoo/error.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace kzoo::library {
namespace {

// A call returns when its work is done.
class nothing_pending : public marker {
  void record(void*) override {}
  bool reached() override { return true; }
};

class cpu_device : public device {
 public:
  const kzoo_device& abi() const override { return abi_; }
  std::string name() const override { return "cpu"; }
  int make_current() override { return 0; }
  void restore(int) override {}
  std::uint64_t stream_id(void* stream) override {
    return reinterpret_cast<std::uintptr_t>(stream);
  }
  bool is_capturing(void*) override { return false; }
  void outside_captures(const std::function<void()>& action) override { action(); }
  void* allocate(std::uint64_t bytes, void*) override {
    constexpr std::size_t kAlignment = 256;
    void* memory =
        std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
    if (memory == nullptr) {
      throw error(KZOO_OUT_OF_MEMORY,
                  "no memory for a workspace of " + std::to_string(bytes) + " bytes");
    }
    return memory;
  }
  void fill_with_zeros(void* memory, std::uint64_t bytes, void*) override {
    std::memset(memory, 0, bytes);
  }
  void free(void* memory, void*) override { std::free(memory); }
  void free_unused(void* memory) override { std::free(memory); }
  std::unique_ptr<marker> make_marker() override { return std::make_unique<nothing_pending>(); }
  void wait_until_idle() override {}

 private:
  kzoo_device abi_{.struct_size = sizeof(kzoo_device),
                   .kind = KZOO_CPU,
                   .ordinal = 0,
                   .compute_capability = 0,
                   .multiprocessors = std::max(1u, std::thread::hardware_concurrency()),
                   .shared_bytes_per_block = 0,
                   .threads = std::max(1u, std::thread::hardware_concurrency()),
                   .reserved = 0};
};

}  // namespace

std::unique_ptr<device> open_cpu() { return std::make_unique<cpu_device>(); }

}  // namespace kzoo::library
