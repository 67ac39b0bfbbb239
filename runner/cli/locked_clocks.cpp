#include "cli/locked_clocks.hpp"

#include "devices/backend.hpp"
#include "devices/devices.hpp"
#include "devices/nvml.hpp"
#include "microbenchmarks/measure.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

namespace kzoo::cli {
namespace {

// Clocks fall some time after the last work, so a high one is read again.
results::conditions idle_conditions(const devices::nvml& monitor, double highest_mhz) {
  constexpr int kMost = 30;
  constexpr std::chrono::milliseconds kPause{100};
  constexpr double kNearly = 0.98;
  results::conditions now = monitor.read();
  for (int i = 0; i < kMost && now.sm_mhz > kNearly * highest_mhz; ++i) {
    std::this_thread::sleep_for(kPause);
    now = monitor.read();
  }
  return now;
}

}  // namespace

devices::clock_lock measure_clock_lock(const results::device& d) {
  const devices::nvml monitor(d.pci_bus_id);
  if (!monitor.absent().empty()) return devices::unknown_clock_lock(monitor.absent());
  const results::conditions idle = idle_conditions(monitor, d.highest_mhz);
  if (monitor.busy_share().value_or(0) > 0)
    return devices::unknown_clock_lock("another program uses the device");
  try {
    const auto loads = microbenchmarks::all(d);
    microbenchmarks::measure(loads.front(), {.warmup_seconds = 0.3, .samples = 2});
  } catch (const devices::failure& f) {
    return devices::unknown_clock_lock(f.what());
  }
  return devices::find_clock_lock(idle, monitor.read(), d.highest_mhz);
}

void require_locked_clocks(results::device& d) {
  const devices::clock_lock found = measure_clock_lock(d);
  d.facts["clocks"] = found.words;
  if (found.locked.value_or(false)) return;
  throw devices::absent(fmt::format(
      "[timing] require_locked_clocks = true: the clocks of {}: {}. {}", d.id, found.words,
      d.abi.kind == KZOO_CUDA ? devices::how_to_lock(d.pci_bus_id, d.highest_mhz)
                              : "Only a GPU has clocks that the runner can judge: name one with "
                                "--device, or leave the key out."));
}

}  // namespace kzoo::cli
