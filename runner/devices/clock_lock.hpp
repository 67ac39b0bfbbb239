#pragma once
// Whether a setting holds a GPU's clock where it is, as nvidia-smi --lock-gpu-clocks does. NVML can
// set that and has no function that tells it, but such a clock is the same whether the device is
// idle or busy, and without a lock an idle device lowers it.

#include "results/conditions.hpp"

#include <optional>
#include <string>

namespace kzoo::devices {

struct clock_lock {
  std::optional<bool> locked;  // nothing: it cannot be told
  std::string words;           // "locked at 1500 MHz"
};

clock_lock unknown_clock_lock(const std::string& reason);

// From readings before a short kernel and right after it.
clock_lock find_clock_lock(const results::conditions& idle, const results::conditions& busy,
                           double highest_mhz);

// How an administrator locks the clocks of a device, in a sentence; 0: its highest is not known.
std::string how_to_lock(const std::string& pci_bus_id, double highest_mhz);

}  // namespace kzoo::devices
