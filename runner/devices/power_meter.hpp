#pragma once
// Watches a GPU's energy counter and power while something runs on it.

#include "devices/nvml.hpp"

#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace kzoo::devices {

// Mean power over some time; what the driver does not tell is absent.
struct power_use {
  std::optional<double> watts;           // by the energy counter, between two of its updates
  std::optional<double> reported_watts;  // by the power that the driver reports
  double counter_seconds = 0;            // from one update of the counter to the next
};

// Reads both every few milliseconds, in a thread of its own, as long as it lives.
class power_meter {
 public:
  explicit power_meter(const nvml& device);
  ~power_meter();
  power_meter(const power_meter&) = delete;
  power_meter& operator=(const power_meter&) = delete;

  // Of a time that is over, in steady_seconds().
  power_use between(double begin, double end) const;

 private:
  void read();

  // A change of the counter, or a reading of the power.
  struct reading {
    double seconds, value;
  };
  const nvml& device_;
  mutable std::mutex readings_;
  std::vector<reading> joules_, watts_;
  std::jthread reader_;
};

}  // namespace kzoo::devices
