#pragma once
// Reads a GPU's conditions through NVML, the driver's management library. It needs no CUDA context,
// so the supervisor can watch a worker's device.

#include "results/conditions.hpp"

#include <memory>
#include <optional>
#include <string>

namespace kzoo::devices {

class nvml {
 public:
  // Names the device by its PCI address (0000:18:00.0), because CUDA_VISIBLE_DEVICES changes
  // ordinals. Only tests pass another library. Does not throw: see absent().
  explicit nvml(const std::string& pci_bus_id, const std::string& library = "libnvidia-ml.so.1");
  ~nvml();
  nvml(const nvml&) = delete;
  nvml& operator=(const nvml&) = delete;

  // Why nothing can be read; "": it can.
  const std::string& absent() const { return absent_; }
  // The current conditions; all absent if absent() is not "".
  results::conditions read() const;
  // The power of read() alone.
  std::optional<double> watts() const;
  // Energy since the driver was loaded, in joules; nothing if the device does not count it.
  std::optional<double> joules() const;
  // Recent share of time in which kernels of any process ran.
  std::optional<double> busy_share() const;

 private:
  struct session;

  std::unique_ptr<session> session_;
  std::string absent_;
};

}  // namespace kzoo::devices
