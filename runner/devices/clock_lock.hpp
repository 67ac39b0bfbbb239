#pragma once
// Detects whether a GPU's clock is locked, as by nvidia-smi --lock-gpu-clocks. NVML cannot query
// the lock. A locked clock is equal on an idle and a busy device; an unlocked device lowers its
// clock when idle.

#include "results/conditions.hpp"

#include <optional>
#include <string>

namespace kzoo::devices {

struct clock_lock {
  std::optional<bool> locked;  // nothing: unknown
  std::string words;           // "locked at 1500 MHz"
};

clock_lock unknown_clock_lock(const std::string& reason);

// From readings before a short kernel and right after it.
clock_lock find_clock_lock(const results::conditions& idle, const results::conditions& busy,
                           double highest_mhz);

// A sentence on how an administrator locks the device's clocks. `highest_mhz` 0: unknown.
std::string how_to_lock(const std::string& pci_bus_id, double highest_mhz);

}  // namespace kzoo::devices
