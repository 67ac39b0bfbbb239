// The __shared__ arrays of a module, which are thread-local variables: all of an OS thread are in
// one range of memory.
#pragma once

#include <cstddef>
#include <unordered_map>

namespace kzoo::sim {

struct byte_range {
  unsigned char* begin = nullptr;
  std::size_t size = 0;
};

// The thread-local variables of this module on the calling OS thread.
byte_range thread_locals();

// Gives each block arrays that hold 0xff bytes, as dynamic shared memory does: what an earlier
// block left there must not help. For an OS thread on which nothing but blocks runs, since other
// thread-local variables of its module are overwritten too.
class static_shared {
 public:
  static_shared();

  // Before and after a block of the kernel. Which bytes a kernel uses is learnt from its first
  // block.
  void poison(const void* kernel);
  void note_use(const void* kernel);

 private:
  byte_range all_;
  const void* last_ = nullptr;  // kernel
  std::unordered_map<const void*, byte_range> used_;
};

}  // namespace kzoo::sim
