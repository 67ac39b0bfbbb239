#pragma once
// Writes a run's matrices while no other kernel is on the device: a kernel that waits for the
// numbers finds no free SM. nvcc compiles the implementation.

#include "devices/backend.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>

namespace kzoo::timing {
struct clock_stamp;
}

namespace kzoo::devices::cuda {

// How far the kernel's blocks are.
struct fill_progress;

// Launches one kernel, with one block per SM that takes all shared memory. Any other block needs
// some (1 KB, from compute capability 8.0 on) and cannot start. Nothing is written before all
// blocks have begun. All blocks end together, after the L2 flush. If another kernel keeps an SM,
// the other blocks start writing after 2 ms, and was_alone() reports it. Time in which another
// process has the device does not count.
//
// For the current device. Its memory is never freed: it lives as long as the process.
class exclusive_fill {
 public:
  // Throws failure, as do the other functions.
  explicit exclusive_fill(int ordinal);

  // Enqueues the kernel. `flush`: it then reads memory of twice the L2's size. Written lines would
  // be written back while the timed kernel reads (docs/timing.md). Each SM's clock is read before
  // the flush.
  void enqueue(std::span<const filled_buffer> buffers, bool flush, timing::clock_stamp* clocks,
               cudaStream_t stream);
  // About the last enqueued kernel, once it has ended.
  bool was_alone() const { return *blocks_begun_ == static_cast<unsigned>(multiprocessors_); }

 private:
  int multiprocessors_ = 0, shared_bytes_ = 0;
  fill_progress* progress_ = nullptr;
  volatile unsigned* blocks_begun_ = nullptr;  // in host memory, mapped to the device
  void* flushed_ = nullptr;
  std::size_t flushed_bytes_ = 0;
};

}  // namespace kzoo::devices::cuda
