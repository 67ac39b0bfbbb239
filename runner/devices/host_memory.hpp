#pragma once
// Where the matrices of the CPU are: in this process alone, or also in the worker that runs the
// kernel.

#include <cstddef>
#include <cstdint>

namespace kzoo::devices {

// What must not be touched around an allocation.
struct surroundings {
  std::size_t bytes = 0;  // on either side
  const char* name = "";  // of what is allocated: a literal
};

class host_memory {
 public:
  virtual ~host_memory() = default;

  // 256-byte aligned; the caller releases it. Throws failure if there is not enough.
  virtual void* allocate(std::size_t bytes, const surroundings& around) = 0;
  virtual void release(void* memory) = 0;
  // For as long as a kernel runs: the first write that it makes there is noted.
  virtual void set_read_only(void* memory, bool read_only) = 0;
  // As backend::take_noted_write().
  virtual std::int64_t take_noted_write(const void* memory) = 0;
};

}  // namespace kzoo::devices
