#pragma once
// Host memory between pages that nobody may touch. It can be made read-only for a while: what then
// writes there is noted, and let go on.

#include <cstddef>
#include <cstdint>
#include <optional>

namespace kzoo::devices {

// Whole pages of a file that other processes may have mapped, too.
struct file_part {
  int fd;
  std::size_t offset;
};
// The pages that so many bytes take, in bytes; and where in them these bytes begin, so that they
// end just before the first page out of bounds and are 256-byte aligned.
std::size_t guarded_pages(std::size_t bytes);
std::size_t guarded_offset(std::size_t bytes);

// The name is for the message of a process that ends because it touches what is around it, and is
// kept: a literal. At least `around` bytes before and after are out of bounds. The memory is that
// of `shared`, if it is given. Null if there is not enough memory.
void* allocate_guarded(std::size_t bytes, std::size_t around, const char* name,
                       const std::optional<file_part>& shared = {});
// Returns false for memory of another kind.
bool release_guarded(void* memory);

// `memory`: an address in it. Nothing for memory of another kind.
void set_read_only(const void* memory, bool read_only);
// The offset of the first write while it was read-only, since the last call of this; -1: none.
std::int64_t take_noted_write(const void* memory);

}  // namespace kzoo::devices
