#pragma once
// Registers of a thread, moved by setmaxnreg. A kernel of three warpgroups begins with 168 for all;
// the producer needs few, and leaves the others enough for a tile of 64 x 256 each.

#include <kzoo/warpgroup.hpp>

namespace wide_tiles {

inline constexpr int kProducerRegisters = 24, kConsumerRegisters = 240;
static_assert(kProducerRegisters + 2 * kConsumerRegisters <= 65536 / kzoo::kWarpgroup,
              "an SM has 65536 registers");

}  // namespace wide_tiles
