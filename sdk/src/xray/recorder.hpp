// Records each simulated thread's actions in a log. Hands a warp's logs to the runner when all its
// lanes have reached a barrier or their ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <kzoo/xray.h>

#include "../sim/block.hpp"

namespace kzoo::sim {

// A thread's actions since its last barrier.
struct lane_log {
  std::vector<kzoo_xray_event> events;
  std::uintptr_t stack = 0;  // lowest address of the stack that it runs on
  std::uint8_t flags = 0;    // the next events' flags
};

// A place in the code, in bytes from the beginning of the library.
std::uint32_t offset_of(const void* from);

// Adds an event to the running thread's log. Ignores host code, and addresses on the thread's own
// stack or in its simulator state, which are registers or local memory. `from`: the call-out's
// return address.
void record(unsigned kind, const volatile void* address, std::size_t bytes, const void* from);

// Like record(), without an address.
void record_step(unsigned kind, std::uint64_t value, const void* from);

}  // namespace kzoo::sim
