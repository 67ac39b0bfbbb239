// The stacks of one OS thread's fibers: made in slabs, kept until the thread ends.
#pragma once

#include <cstddef>
#include <vector>

namespace kzoo::sim {

// Address space; pages are taken when touched.
inline constexpr std::size_t kStackBytes = std::size_t{128} * 1024;

class stack_pool {
 public:
  stack_pool() = default;
  stack_pool(const stack_pool&) = delete;
  stack_pool& operator=(const stack_pool&) = delete;
  ~stack_pool();

  // The lowest usable address of kStackBytes, with a guard page below. Throws std::bad_alloc.
  void* take();

 private:
  std::vector<void*> slabs_;
  std::size_t left_ = 0;  // stacks not handed out in the last slab
};

}  // namespace kzoo::sim
