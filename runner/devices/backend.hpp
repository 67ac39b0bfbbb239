#pragma once
// What a worker needs of its device: memory, test data, synchronization and timing. There is one
// implementation per kind of device.

#include "core/matrix_data.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace kzoo::devices {

// A device operation failed; what() has the error text of the driver or the runtime.
class failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The time of the same runs by two clocks, in milliseconds: the host's clock, from the first launch
// until the device is idle, and events on the stream. Only the host's includes work on other
// streams.
struct clocks {
  double host_ms = 0, stream_ms = 0;

  // Some of the work was not on the stream. The limits leave room for the launch and the final
  // synchronization, which only the host's time includes.
  bool disagree() const {
    constexpr double kMostRatio = 1.5, kLeastExtraMs = 0.5;
    return host_ms > kMostRatio * stream_ms && host_ms - stream_ms >= kLeastExtraMs;
  }
};

// One timed run. 0 MHz: the SM clock is not known, or cannot be measured over so short a time.
struct sample {
  double ms = 0, sm_mhz = 0;
};

class backend {
 public:
  virtual ~backend() = default;

  // Device memory, 256-byte aligned; the caller releases it. Throws failure if there is not enough.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) = 0;

  // Fills a buffer of data::word_count(x) elements with what x describes; returns when done.
  virtual void fill(void* buffer, const data::matrix& x) = 0;
  // The words that no longer hold what fill() wrote.
  virtual data::changes find_changes(const void* buffer, const data::matrix& x) = 0;
  // Surveys a result that a kernel wrote into a buffer filled by fill().
  virtual data::survey survey(const void* buffer, const data::matrix& x) = 0;
  // A hash of the buffer: the same for the same words, on every device.
  virtual std::uint64_t digest(const void* buffer, const data::matrix& x) = 0;
  // For each row the sum of its elements, as exact integers, times hash(key, column), mod 2^64.
  virtual std::vector<std::uint64_t> fold_rows(const void* buffer, const data::matrix& x,
                                               std::uint64_t key) = 0;
  // Under AddressSanitizer, marks the redzones around a buffer as out of bounds, or as in bounds
  // again.
  virtual void mark_redzones(const void* buffer, const data::matrix& x, bool out_of_bounds) = 0;
  virtual void copy_to_host(void* host, const void* memory, std::size_t bytes) = 0;
  virtual void copy_to_device(void* memory, const void* host, std::size_t bytes) = 0;

  // The stream that plugins receive; null on the CPU.
  virtual void* stream() = 0;
  // Returns and clears an error that earlier work left behind; empty: none.
  virtual std::string pending_error() = 0;
  // Waits for all work on the device. Throws failure.
  virtual void synchronize() = 0;

  // The time that the work of `enqueue` takes on the device, with cold caches if cold_cache(), and
  // the SM clock during it.
  virtual sample time_ms(const std::function<void()>& enqueue) = 0;
  virtual bool cold_cache() const = 0;
  // The mean time of `runs` runs back to back, after an untimed one that warms the caches.
  virtual sample time_hot_ms(const std::function<void()>& enqueue, int runs) = 0;
  // Times the work by both clocks, repeated until it takes some milliseconds; nothing where there
  // is only one clock.
  virtual std::optional<clocks> compare_clocks(const std::function<void()>& enqueue) = 0;
  // Runs the work to its end between cudaProfilerStart and cudaProfilerStop, so that a profiler can
  // record it alone.
  virtual void profile(const std::function<void()>& enqueue) = 0;
};

// The backend of the device with this id, as in results::device; makes the device current.
std::unique_ptr<backend> open(const std::string& device_id);
std::unique_ptr<backend> open_cpu();
std::unique_ptr<backend> open_cuda(int ordinal);  // throws absent in a build without CUDA

}  // namespace kzoo::devices
