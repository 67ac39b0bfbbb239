#pragma once
// The clock that the multiprocessors ran at while some work was done: each of them reads its cycle
// counter and the GPU's timer before and after it, in a kernel of one warp per multiprocessor. It
// needs no right and no library, unlike what the driver tells.

#include <cuda_runtime_api.h>

namespace kzoo::timing {
struct clock_stamp;
}

namespace kzoo::devices::cuda {

// On the current device. Not freed: it lives as long as the process.
class clock_probe {
 public:
  // Throws failure.
  clock_probe();

  // Around the work, on its stream.
  void enqueue_start(cudaStream_t stream);
  void enqueue_stop(cudaStream_t stream);
  // Once the stream has been waited for; 0 where the timer is too coarse for so short a time.
  double mhz() const;

 private:
  // Has each multiprocessor note both, from this place on.
  void enqueue(timing::clock_stamp* to, cudaStream_t stream) const;

  timing::clock_stamp* start_ = nullptr;  // on the device, a place for each multiprocessor
  timing::clock_stamp* stop_ = nullptr;   // behind them in the same memory
  unsigned long long tick_ = 0;           // nanoseconds by which the timer advances
  unsigned multiprocessors_ = 0;
};

}  // namespace kzoo::devices::cuda
