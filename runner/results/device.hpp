#pragma once
// A device, as the driver or the operating system describes it, its conditions, and launches on it.

#include <kzoo/abi.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kzoo::results {

struct device {
  std::string id;    // "cpu", "cuda:0"
  std::string name;  // "NVIDIA H200"; the processor's own name for cpu
  kzoo_device abi{};
  std::string pci_bus_id;  // "0000:18:00.0"; "" for cpu
  std::uint64_t memory_bytes = 0;
  double highest_mhz = 0;                    // maximum SM clock of a GPU; 0: unknown
  std::map<std::string, std::string> facts;  // driver, runtime, clocks …

  // A value of `facts`; "": unknown.
  std::string fact(const std::string& key) const {
    const auto found = facts.find(key);
    return found == facts.end() ? "" : found->second;
  }
};

// The operating conditions of a GPU, as its driver reports them. Absent: it does not report it.
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

// A kernel launch: kzoo_launch, in the same units.
struct launch {
  std::array<std::uint32_t, 3> grid{}, block{};
  std::uint64_t dynamic_shared = 0, static_shared = 0, local_bytes = 0;
  std::uint32_t registers = 0, resident_warps = 0, most_warps = 0;
  std::string kernel{};  // its symbol; "": unknown. Not stored

  double occupancy() const { return double(resident_warps) / double(most_warps); }
};

// The launch with the lowest occupancy: the GEMM's, where others convert operands or add sums. Null
// if no occupancy is known (libraries, the cpu device).
inline const launch* main_launch(const std::vector<launch>& all) {
  const launch* found = nullptr;
  for (const launch& one : all) {
    if (one.most_warps == 0) continue;
    if (found == nullptr || one.occupancy() < found->occupancy()) found = &one;
  }
  return found;
}

}  // namespace kzoo::results
