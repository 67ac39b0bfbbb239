#pragma once
// Reads a GPU's conditions through NVML, the driver's management library. It needs no CUDA context,
// so the supervisor can watch a worker's device.

#include "results/plugin.hpp"

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace kzoo::devices {

class nvml {
 public:
  // Names the device by its PCI address (0000:18:00.0), because CUDA_VISIBLE_DEVICES changes
  // ordinals. Only tests pass another library. Does not throw: see absent().
  explicit nvml(const std::string& pci_bus_id, const std::string& library = "libnvidia-ml.so.1");
  ~nvml();
  nvml(const nvml&) = delete;
  nvml& operator=(const nvml&) = delete;

  // Why nothing can be read, if so.
  const std::optional<std::string>& absent() const { return absent_; }
  // The current conditions; all absent if nothing can be read.
  results::conditions read() const;
  // The power of read() alone.
  std::optional<double> watts() const;
  // Energy since the driver was loaded, in joules; nothing if the device does not count it.
  std::optional<double> joules() const;
  // Recent share of time in which kernels of any process ran.
  std::optional<double> busy_share() const;
  // Bytes of the device's memory that a process has; nothing if the driver does not list it.
  std::optional<std::int64_t> memory_of(pid_t process) const;

 private:
  struct session;

  std::unique_ptr<session> session_;
  std::optional<std::string> absent_;
};

// Detects whether a GPU's clock is locked, as by nvidia-smi --lock-gpu-clocks. NVML cannot query
// the lock. A locked clock is equal on an idle and a busy device; an unlocked device lowers its
// clock when idle.
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

// Mean power over some time; absent where the driver does not report it.
struct power_use {
  std::optional<double> watts;           // by the energy counter, between two of its updates
  std::optional<double> reported_watts;  // by the power that the driver reports
  double counter_seconds = 0;            // between the two updates
};

// A change of the counter, or a reading of the power.
struct power_reading {
  double seconds, value;
};

// From readings of the counter, in joules, and of the power, in watts, ordered by time.
power_use power_between(double begin, double end, const std::vector<power_reading>& joules,
                        const std::vector<power_reading>& watts);

// Watches a GPU's energy counter and power while something runs on it: reads both every few
// milliseconds in its own thread.
class power_meter {
 public:
  explicit power_meter(const nvml& device);
  ~power_meter();
  power_meter(const power_meter&) = delete;
  power_meter& operator=(const power_meter&) = delete;

  // A past interval, in steady_seconds().
  power_use between(double begin, double end) const;

 private:
  void read();

  const nvml& device_;
  mutable std::mutex readings_;
  std::vector<power_reading> joules_, watts_;
  std::jthread reader_;
};

}  // namespace kzoo::devices
