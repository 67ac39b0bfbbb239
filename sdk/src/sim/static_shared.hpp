// A module's __shared__ arrays are thread-local variables: each OS thread has all in one range.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

namespace kzoo::sim {

struct byte_range {
  unsigned char* begin = nullptr;
  std::size_t size = 0;
};

// The thread-local variables of this module on the calling OS thread.
byte_range thread_locals();

// Fills each block's arrays with 0xff bytes, like dynamic shared memory, so that contents of an
// earlier block do not help. For an OS thread that only runs blocks, since it overwrites the
// module's other thread-local variables too.
class static_shared {
 public:
  static_shared();

  // Called around each block of the kernel. The first block shows which bytes it uses.
  void poison(const void* kernel);
  void note_use(const void* kernel);
  // The kernel's blocks use all bytes.
  void note_whole_use(const void* kernel) { used_[kernel] = all_; }

  const byte_range& bytes() const { return all_; }
  // Copies all bytes to `save`, and `load` in their place.
  void exchange(std::vector<unsigned char>& save, const std::vector<unsigned char>& load);

 private:
  byte_range all_;
  const void* last_ = nullptr;  // kernel
  std::unordered_map<const void*, byte_range> used_;
};

}  // namespace kzoo::sim
