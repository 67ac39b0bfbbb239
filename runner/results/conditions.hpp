#pragma once
// The state that a GPU works in, as its driver tells it.

#include <optional>
#include <set>
#include <string>

namespace kzoo::results {

// What the device does not tell is not there.
struct conditions {
  std::optional<double> sm_mhz, memory_mhz, celsius, watts, power_limit_watts;
  // Why the clocks are below the highest: nvidia-smi's words for its clocks_event_reasons.
  std::set<std::string> clock_reasons;

  bool any() const;
  // The hardware, or the driver for the temperature's sake, holds the clocks down.
  bool slowed_down() const;
  // The clocks are what the power limit allows: normal for large problems.
  bool power_capped() const;
  // This and a later moment as one: clocks of the later one, the highest temperature and power, all
  // reasons.
  void add(const conditions& later);

  bool operator==(const conditions&) const = default;
};

// "1980 MHz, 34 °C, 75 of 700 W, gpu_idle"
std::string to_string(const conditions& c);

}  // namespace kzoo::results
