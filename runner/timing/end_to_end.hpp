#pragma once
// The time of a GEMM for a program with its matrices on the host, copies included.

#include <vector>

namespace kzoo::timing {

// Milliseconds by the host's clock; each phase ends when the device is idle.
struct end_to_end {
  double allocate_ms = 0;   // device memory for A, B, C and the workspace
  double to_device_ms = 0;  // A and B; C too if beta is not 0
  double kernel_ms = 0;     // with its launch
  double to_host_ms = 0;    // C

  double total_ms() const { return allocate_ms + to_device_ms + kernel_ms + to_host_ms; }
};

// The median of each phase; `runs` must not be empty.
end_to_end medians(const std::vector<end_to_end>& runs);

}  // namespace kzoo::timing
