#pragma once
// Writes what the matrices of a run hold, while no other kernel is on the device: one that waits
// for the numbers, or that is ready to run as soon as they are there, has no multiprocessor. nvcc
// compiles the implementation.

#include "devices/backend.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>

namespace kzoo::timing {
struct clock_stamp;
}

namespace kzoo::devices::cuda {

// How far the blocks of the kernel are.
struct fill_progress;

// It is one kernel, with one block on each multiprocessor that takes all of its shared memory, of
// which any other block needs some (a kilobyte, from compute capability 8.0 on). Nothing is written
// before all blocks have begun, and all end at the same time, when the caches have been flushed. A
// kernel that keeps a multiprocessor keeps a block from beginning: after 2 ms the others write the
// numbers without it, and was_alone() says so. Time in which another process has the device does
// not count.
//
// For the current device. Its memory is never freed: it lives as long as the process.
class exclusive_fill {
 public:
  // Throws failure, as do the other functions.
  explicit exclusive_fill(int ordinal);

  // Enqueues it. `flush`: afterwards twice the size of the L2 is read, of memory that nothing else
  // uses. It is not written: what a flush has written would be written back to memory while the
  // timed kernel reads (docs/timing.md). Each multiprocessor's clock is read before that.
  void enqueue(std::span<const filled_buffer> buffers, bool flush, timing::clock_stamp* clocks,
               cudaStream_t stream);
  // Of the last one, once its stream has done it.
  bool was_alone() const { return *blocks_begun_ == static_cast<unsigned>(multiprocessors_); }

 private:
  int multiprocessors_ = 0, shared_bytes_ = 0;
  fill_progress* progress_ = nullptr;
  volatile unsigned* blocks_begun_ = nullptr;  // in host memory, mapped to the device
  void* flushed_ = nullptr;
  std::size_t flushed_bytes_ = 0;
};

}  // namespace kzoo::devices::cuda
