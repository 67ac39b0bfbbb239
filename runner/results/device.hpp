#pragma once
// A device, as the driver or the operating system describes it.

#include <kzoo/abi.h>

#include <cstdint>
#include <map>
#include <string>

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

}  // namespace kzoo::results
