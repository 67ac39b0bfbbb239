#pragma once
// Takes a kernel's matrices out of the L2 before it is timed cold.

#include <cuda_runtime.h>

#include <cstddef>

namespace kzoo::devices::cuda {

// Reads twice the size of the L2, of memory that nothing else uses. It is not written: what a flush
// has written would be written back to memory while the timed kernel reads, tens of megabytes
// (docs/timing.md). Never freed: it lives as long as the process.
class l2_flush {
 public:
  // Allocates the memory on device `ordinal`, the current one. Throws failure.
  explicit l2_flush(int ordinal);
  void enqueue(cudaStream_t stream) const;

 private:
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
  int blocks_ = 0;
};

}  // namespace kzoo::devices::cuda
