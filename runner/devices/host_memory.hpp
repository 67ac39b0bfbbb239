#pragma once
// Memory of the CPU's matrices: of this process, or shared with the kernel's worker.

#include <cstddef>
#include <cstdint>

namespace kzoo::devices {

// Memory around an allocation that must not be touched.
struct surroundings {
  std::size_t bytes = 0;  // on either side
  const char* name = "";  // of the allocation: a literal
};

class host_memory {
 public:
  virtual ~host_memory() = default;

  // 256-byte aligned; the caller releases it. Throws failure if memory runs out.
  virtual void* allocate(std::size_t bytes, const surroundings& around) = 0;
  virtual void release(void* memory) = 0;
  // Used while a kernel runs; its first write is noted.
  virtual void set_read_only(void* memory, bool read_only) = 0;
  // See backend::take_noted_write().
  virtual std::int64_t take_noted_write(const void* memory) = 0;
};

}  // namespace kzoo::devices
