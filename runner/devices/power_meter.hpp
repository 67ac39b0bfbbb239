#pragma once
// Watches a GPU's energy counter and power while something runs on it.

#include "devices/nvml.hpp"

#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace kzoo::devices {

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

// Reads both every few milliseconds in its own thread.
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
