#pragma once
// Which devices this machine has, and what they are.

#include <kzoo/abi.h>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace kzoo::devices {

struct device {
  std::string id;    // "cpu", "cuda:0"
  std::string name;  // "NVIDIA H200"; the processor's own name for cpu
  kzoo_device abi{};
  std::string pci_bus_id;                    // "0000:18:00.0"; "" for cpu
  std::uint64_t memory_bytes = 0;            // in all
  double highest_mhz = 0;                    // of a GPU's multiprocessors
  std::map<std::string, std::string> facts;  // driver, runtime, clocks …: for the record

  // "" when it is not known.
  std::string fact(const std::string& key) const {
    const auto found = facts.find(key);
    return found == facts.end() ? "" : found->second;
  }
};

// A device that was asked for is not there. what() is two sentences: why, and what to do.
class absent : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// cpu first, then the GPUs.
std::vector<device> list();

// "cpu", "cuda", "cuda:N", or "auto": the first GPU, else the CPU. "cuda:all" is the first GPU
// here. Throws absent.
device find(const std::string& name);

// All that a run on "cuda:all" is spread over; for any other name the one of find(). Throws absent,
// and std::invalid_argument where they are of several models.
std::vector<device> find_all(const std::string& name);
// The latter.
void check_one_model(const std::vector<device>& all);

// One sentence why there is no CUDA device, one what to do; empty when there is one.
std::string why_no_cuda();

// Bytes of device memory that can be allocated now.
std::uint64_t free_memory(const device& d);

// "cpu" or "cuda": the folder that a device's plugins are in.
const char* kind_name(kzoo_device_kind kind);

}  // namespace kzoo::devices
