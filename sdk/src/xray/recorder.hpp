// Records what the threads of simulated blocks do, each in a log of its own, and hands the logs of
// a warp to the runner whenever all its lanes have reached a barrier or their ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <kzoo/xray.h>

#include "../sim/block.hpp"

namespace kzoo::sim {

// What a thread has done since its last barrier.
struct lane_log {
  std::vector<kzoo_xray_event> events;
  std::uintptr_t stack = 0;  // lowest address of the stack that it runs on
  std::uint8_t flags = 0;    // of the events to come
};

// A place in the code, in bytes from the beginning of the library.
std::uint32_t offset_of(const void* from);

// Adds an event to the log of the running thread. Nothing happens in host code, nor for an address
// on the thread's own stack or in what the simulator keeps of it: those are registers, or local
// memory. `from`: the address that the call-out returns to.
void record(unsigned kind, const volatile void* address, std::size_t bytes, const void* from);

// The same without an address to look at.
void record_step(unsigned kind, std::uint64_t value, const void* from);

}  // namespace kzoo::sim
