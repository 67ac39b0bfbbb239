// The stacks of one OS thread's fibers: made in slabs, kept until the thread ends.
//
//   | guard page | unused until a thread reaches it          | usable from the start |
//                ^ what take() returns                                              ^ + kStackBytes
//
// Most kernels need little. Usable memory counts as the process's, touched or not; 16 OS threads
// with 1024 full stacks each would exceed many machines' memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kzoo::sim {

// CUDA's limit of local memory per thread, 512 KiB, and the frames of the host.
inline constexpr std::size_t kStackBytes = std::size_t{512 + 64} * 1024;

class stack_pool {
 public:
  static constexpr std::size_t kGuardBytes = 4096;

  stack_pool() = default;
  stack_pool(const stack_pool&) = delete;
  stack_pool& operator=(const stack_pool&) = delete;
  ~stack_pool();

  // The lowest address of kStackBytes, with a guard page below. Throws std::bad_alloc.
  void* take();

  // Whether the address is on a stack of this pool.
  bool holds(std::uintptr_t address) const;

  // Makes all of a stack usable; false if there is no memory. May be called by a signal handler.
  static bool use_all(void* stack);

 private:
  std::vector<void*> slabs_;
  std::size_t left_ = 0;  // stacks not handed out in the last slab
};

}  // namespace kzoo::sim
