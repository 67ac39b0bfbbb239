#pragma once
// Host memory between pages that nobody may touch. It can be made read-only for a while: what then
// writes there is noted, and let go on.

#include <cstddef>
#include <cstdint>

namespace kzoo::devices {

// The name is for the message of a process that ends because it touches what is around it, and is
// kept: a literal. At least `around` bytes before and after are out of bounds. 256-byte aligned; it
// ends just before the first page out of bounds. Null if there is not enough memory.
void* allocate_guarded(std::size_t bytes, std::size_t around, const char* name);
// Returns false for memory of another kind.
bool release_guarded(void* memory);

// Nothing for memory of another kind.
void set_read_only(const void* memory, bool read_only);
// The offset of the first write while it was read-only, since the last call of this; -1: none.
std::int64_t take_noted_write(const void* memory);

}  // namespace kzoo::devices
