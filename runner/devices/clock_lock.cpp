#include "devices/clock_lock.hpp"

#include <fmt/format.h>

#include <cmath>

namespace kzoo::devices {

clock_lock unknown_clock_lock(const std::string& reason) {
  return {{}, "whether they are locked cannot be told: " + reason};
}

clock_lock find_clock_lock(const results::conditions& idle, const results::conditions& busy,
                           double highest_mhz) {
  constexpr double kSame = 0.02;  // clocks have steps of 15 MHz, which is 1 % of 1500
  if (!idle.sm_mhz || !busy.sm_mhz || *busy.sm_mhz <= 0 || highest_mhz <= 0)
    return unknown_clock_lock("the driver does not report them");
  const double mhz = *busy.sm_mhz;
  if (busy.clock_reasons.contains("applications_clocks_setting"))
    return {true, fmt::format("locked at {:.0f} MHz", mhz)};
  if (busy.slowed_down() || busy.power_capped())
    return unknown_clock_lock(fmt::format("heat or power lowers them ({})", to_string(busy)));
  if (std::abs(*idle.sm_mhz - mhz) > kSame * mhz)
    return {false, fmt::format("not locked: {:.0f} MHz idle, {:.0f} MHz busy", *idle.sm_mhz, mhz)};
  if (mhz < (1 - kSame) * highest_mhz) return {true, fmt::format("locked at {:.0f} MHz", mhz)};
  return unknown_clock_lock(fmt::format("{:.0f} MHz, idle and busy, is the highest clock", mhz));
}

std::string how_to_lock(const std::string& pci_bus_id, double highest_mhz) {
  constexpr double kStepMhz = 15, kShare = 0.75;  // a clock that a GPU can hold at its power limit
  const std::string mhz =
      highest_mhz > 0
          ? fmt::format("{:.0f}", kStepMhz * std::round(kShare * highest_mhz / kStepMhz))
          : "MHZ";
  return fmt::format(
      "An administrator locks them with `nvidia-smi -i {} --lock-gpu-clocks={}` (another clock of "
      "`nvidia-smi -q -d SUPPORTED_CLOCKS` will do; `--reset-gpu-clocks` unlocks them).",
      pci_bus_id, mhz);
}

}  // namespace kzoo::devices
