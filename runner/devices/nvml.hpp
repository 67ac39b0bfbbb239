#pragma once
// A GPU's conditions through NVML, the driver's own library. It needs no CUDA context, so that the
// supervisor can watch the device that a worker computes on.

#include "results/conditions.hpp"

#include <memory>
#include <string>

namespace kzoo::devices {

class nvml {
 public:
  // The device as its PCI address names it (0000:18:00.0), since CUDA_VISIBLE_DEVICES renumbers.
  // The library is the one of the driver; its path is for tests.
  explicit nvml(const std::string& pci_bus_id, const std::string& library = "libnvidia-ml.so.1");
  ~nvml();
  nvml(const nvml&) = delete;
  nvml& operator=(const nvml&) = delete;

  // Why nothing can be read; "" where it can.
  const std::string& absent() const { return absent_; }
  // As they are now; nothing at all where absent() says why.
  results::conditions read() const;
  // The SM clock that the device may reach, MHz; 0 when it is not known.
  double highest_sm_mhz() const;

 private:
  struct session;

  std::unique_ptr<session> session_;
  std::string absent_;
};

}  // namespace kzoo::devices
