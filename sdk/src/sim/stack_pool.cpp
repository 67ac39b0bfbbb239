#include "stack_pool.hpp"

#include <new>

#include <sys/mman.h>

#include <kzoo/sim/device.hpp>

namespace kzoo::sim {
namespace {

constexpr std::size_t kUsableBytes = std::size_t{128} * 1024;
constexpr std::size_t kStride = kStackBytes + stack_pool::kGuardBytes;
constexpr std::size_t kStacksPerSlab = 32;

}  // namespace

stack_pool::~stack_pool() {
  if (current != nullptr) return;  // a kernel called exit(): this code runs on one of the stacks
  for (void* slab : slabs_) munmap(slab, kStride * kStacksPerSlab);
}

void* stack_pool::take() {
  if (left_ == 0) {
    void* slab = mmap(nullptr, kStride * kStacksPerSlab, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (slab == MAP_FAILED) throw std::bad_alloc();
    slabs_.push_back(slab);
    left_ = kStacksPerSlab;
  }
  auto* guard = static_cast<char*>(slabs_.back()) + kStride * (kStacksPerSlab - left_--);
  char* stack = guard + kGuardBytes;
  if (mprotect(stack + kStackBytes - kUsableBytes, kUsableBytes, PROT_READ | PROT_WRITE) != 0)
    throw std::bad_alloc();
  return stack;
}

bool stack_pool::holds(std::uintptr_t address) const {
  for (void* slab : slabs_)
    if (address - reinterpret_cast<std::uintptr_t>(slab) < kStride * kStacksPerSlab) return true;
  return false;
}

bool stack_pool::use_all(void* stack) {
  return mprotect(stack, kStackBytes, PROT_READ | PROT_WRITE) == 0;
}

}  // namespace kzoo::sim
