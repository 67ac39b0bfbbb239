#include "stack_pool.hpp"

#include <new>

#include <sys/mman.h>

#include <kzoo/sim/device.hpp>

namespace kzoo::sim {
namespace {

constexpr std::size_t kGuardBytes = 4096;
constexpr std::size_t kStride = kStackBytes + kGuardBytes;
constexpr std::size_t kStacksPerSlab = 32;

}  // namespace

stack_pool::~stack_pool() {
  if (current != nullptr) return;  // exit() was called by a kernel: we stand on one of them
  for (void* slab : slabs_) munmap(slab, kStride * kStacksPerSlab);
}

void* stack_pool::take() {
  if (left_ == 0) {
    void* slab = mmap(nullptr, kStride * kStacksPerSlab, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (slab == MAP_FAILED) throw std::bad_alloc();
    slabs_.push_back(slab);
    left_ = kStacksPerSlab;
  }
  auto* guard = static_cast<char*>(slabs_.back()) + kStride * (kStacksPerSlab - left_--);
  // A guard is one more mapping, and there is a limit on those: without it we run all the same.
  static_cast<void>(mprotect(guard, kGuardBytes, PROT_NONE));
  return guard + kGuardBytes;
}

}  // namespace kzoo::sim
