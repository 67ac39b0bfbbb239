#pragma once
// Reads a GPU's conditions through NVML, the driver's management library. It needs no CUDA context,
// so that the supervisor can watch the device that a worker computes on.

#include "results/conditions.hpp"

#include <memory>
#include <optional>
#include <string>

namespace kzoo::devices {

class nvml {
 public:
  // The device is named by its PCI address (0000:18:00.0), because CUDA_VISIBLE_DEVICES changes
  // ordinals. Only tests pass another library than the driver's. Does not throw: see absent().
  explicit nvml(const std::string& pci_bus_id, const std::string& library = "libnvidia-ml.so.1");
  ~nvml();
  nvml(const nvml&) = delete;
  nvml& operator=(const nvml&) = delete;

  // Why nothing can be read; "": it can.
  const std::string& absent() const { return absent_; }
  // The current conditions; all of them absent if absent() is not "".
  results::conditions read() const;
  // The power that read() tells, alone.
  std::optional<double> watts() const;
  // What the device has used since its driver was loaded, joules; nothing where it does not count.
  std::optional<double> joules() const;
  // The share of the last moments in which kernels ran, of any process.
  std::optional<double> busy_share() const;

 private:
  struct session;

  std::unique_ptr<session> session_;
  std::string absent_;
};

}  // namespace kzoo::devices
