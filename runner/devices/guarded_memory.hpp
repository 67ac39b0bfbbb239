#pragma once
// Host memory between inaccessible pages. Can be read-only until its first write, which is noted.

#include <cstddef>
#include <cstdint>
#include <optional>

namespace kzoo::devices {

// Whole pages of a file that other processes may have mapped, too.
struct file_part {
  int fd;
  std::size_t offset;
};
// guarded_pages(): the bytes of whole pages for an allocation. guarded_offset(): its 256-byte
// aligned start in them, so that it ends just before the next page, which is out of bounds.
std::size_t guarded_pages(std::size_t bytes);
std::size_t guarded_offset(std::size_t bytes);

// `name`, a literal that is kept, is for the message when an access to the surroundings ends the
// process. At least `around` bytes before and after are out of bounds. Uses the memory of `shared`,
// if given. Null if memory or guarded blocks run out.
void* allocate_guarded(std::size_t bytes, std::size_t around, const char* name,
                       const std::optional<file_part>& shared = {});
// Returns false for memory of another kind.
bool release_guarded(void* memory);

// `memory`: an address in it. Ignores memory of another kind.
void set_read_only(const void* memory, bool read_only);
// Offset of the first write while it was read-only, since the last call.
std::optional<std::int64_t> take_noted_write(const void* memory);

}  // namespace kzoo::devices
