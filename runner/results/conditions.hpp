#pragma once
// The operating conditions of a GPU, as its driver reports them.

#include <optional>
#include <set>
#include <string>

namespace kzoo::results {

// Absent: the driver does not report it.
struct conditions {
  std::optional<double> sm_mhz, memory_mhz, celsius, watts, power_limit_watts;
  // Why the clocks are below the maximum: nvidia-smi's names of its clocks_event_reasons.
  std::set<std::string> clock_reasons;

  bool any() const;
  // The hardware lowers the clocks, or the driver does because of the temperature.
  bool slowed_down() const;
  // The power limit lowers the clocks, which is normal for large problems.
  bool power_capped() const;
  // Merges a later reading: its clocks and power limit, the higher temperature and power, all
  // reasons.
  void add(const conditions& later);

  bool operator==(const conditions&) const = default;
};

// "1980 MHz, 34 °C, 75 of 700 W, gpu_idle"
std::string to_string(const conditions& c);

}  // namespace kzoo::results
