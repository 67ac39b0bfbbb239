#pragma once
// The kernels of the CUDA backend. Plain types only, because nvcc compiles the implementations.

#include "data/contents.hpp"
#include "data/matrix.hpp"
#include "devices/backend.hpp"
#include "reference/product_check.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kzoo::timing {
struct clock_stamp;
}

namespace kzoo::devices::cuda {

// The functions enqueue on the stream and return without waiting. Pointers are to device memory.
cudaError_t enqueue_fill(void* buffer, const data::matrix& x, cudaStream_t stream);
// Fills the elements of one row.
cudaError_t enqueue_fill_row(void* buffer, const data::matrix& x, std::int64_t row,
                             cudaStream_t stream);
// Holds the stream until the host stores `ticket` in *open (mapped), or for about `most_ns`.
cudaError_t enqueue_gate(const unsigned* open, unsigned ticket, long long most_ns,
                         cudaStream_t stream);
// Runs one thread for `ns`; stores the longest time between two of its timer reads.
cudaError_t enqueue_watch(long long ns, long long* longest_ns, cudaStream_t stream);

// How far the blocks of exclusive_fill are.
struct fill_progress;

// Writes a run's matrices while no other kernel is on the device: a kernel that waits for the
// numbers finds no free SM. Launches one kernel, with one block per SM that takes all shared
// memory. Any other block needs some (1 KB, from compute capability 8.0 on) and cannot start.
// Nothing is written before all blocks have begun. All blocks end together, after the L2 flush. If
// another kernel keeps an SM, the other blocks start writing after 2 ms, and was_alone() reports
// it. Time in which another process has the device does not count.
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

// Compares buffers with what fill() wrote, all in one kernel.
//
// For the current device. Its memory grows with the number of buffers and is never freed.
class change_search {
 public:
  struct entry {
    filled_buffer buffer;
    data::changes found;  // first indices compare as unsigned, so that -1 is the largest
  };

  // The functions throw failure.
  change_search();
  // Enqueues the comparison and its copy to the host.
  void enqueue(std::span<const filled_buffer> buffers, cudaStream_t stream);
  // Changes in each buffer, once the stream has done its work.
  std::vector<data::changes> found() const;

 private:
  void grow(std::size_t count);

  entry *on_device_ = nullptr, *on_host_ = nullptr;  // the host's is pinned
  std::size_t capacity_ = 0, count_ = 0;
};

// Measures the SM clock: before and after some work, each SM reads its cycle counter and the GPU's
// timer. Unlike NVML, this needs no library and no permission.
//
// For the current device. Its device memory is never freed: it lives as long as the process.
class clock_probe {
 public:
  // Throws failure.
  clock_probe();

  // Call them before and after enqueuing the work on its stream. They throw failure.
  // enqueue_start() returns the buffer for a kernel that precedes the work, with a block on each
  // SM: clock.cuh.
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

// Judges results on the GPU: reference/product_check.hpp.
//
// For the current device. Its device memory grows with problems and is never freed.
class product_judge {
 public:
  // Allocates what enqueue() and findings() need for the problem. Throws failure.
  void reserve(const reference::product_check& expected);
  // Enqueues the judgement on the stream; its first kernel reads the whole result. Throws failure.
  void enqueue(const void* output, const reference::product_check& expected, std::uint64_t key,
               cudaStream_t stream);
  // Waits for the stream. Throws failure.
  reference::product_findings findings(cudaStream_t stream);

  // Enqueues the reading of a buffer in one pass, and its copy to the host; reading() waits for the
  // stream. They throw failure.
  void enqueue_reading(const void* buffer, const data::matrix& x, cudaStream_t stream);
  data::reading reading(cudaStream_t stream);

 private:
  struct scratch {
    reference::weighted_row *b = nullptr, *c = nullptr;  // per row of B, of C
    reference::element_sum* elements = nullptr;  // sums of the rows that are compared in full
    reference::product_findings* found = nullptr;
  };
  scratch of(const reference::product_check& expected) const;
  void grow(std::size_t bytes);

  reference::product_findings* found_ = nullptr;  // the last enqueue()'s
  data::reading* reading_ = nullptr;              // in pinned host memory, by enqueue_reading()
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace kzoo::devices::cuda
