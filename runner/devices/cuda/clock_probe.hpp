#pragma once
// Measures the SM clock: before and after some work, each SM reads its cycle counter and the GPU's
// timer. Unlike NVML, this needs no library and no permission.

#include <cuda_runtime_api.h>

namespace kzoo::timing {
struct clock_stamp;
}

namespace kzoo::devices::cuda {

// For the current device. Its device memory is never freed: it lives as long as the process.
class clock_probe {
 public:
  // Throws failure.
  clock_probe();

  // Call them before and after enqueuing the work on its stream. They throw failure.
  // enqueue_start() returns the buffer for a kernel that precedes the work, with a block on each
  // SM: clock_stamp.cuh.
  timing::clock_stamp* enqueue_start(cudaStream_t stream);
  void enqueue_stop(cudaStream_t stream);
  // The SM clock in MHz; 0: the time was too short for the timer's steps. The stream must be idle.
  double mhz() const;

 private:
  timing::clock_stamp* start_ = nullptr;  // in device memory, an entry per SM id
  timing::clock_stamp* stop_ = nullptr;   // likewise, in the same allocation
  unsigned long long tick_ = 0;           // the timer's step in nanoseconds
  unsigned sm_count_ = 0;
};

}  // namespace kzoo::devices::cuda
