#pragma once
// What a worker does with its device: memory, data, order and clocks. One implementation per kind.

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

// Something failed on the device, in the device's own words.
class failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Milliseconds by the host's clock, from the first launch until the device is idle, and between
// events on the stream. Work on another stream is in the first alone.
struct clocks {
  double host_ms = 0, stream_ms = 0;

  // Some of the work was not on the stream: the launch and the wait for the device's end, which are
  // in the host's time alone, are no such part of it.
  bool apart() const {
    constexpr double kMostRatio = 1.5, kLeastExtraMs = 0.5;
    return host_ms > kMostRatio * stream_ms && host_ms - stream_ms >= kLeastExtraMs;
  }
};

// One timed run. 0 MHz: the device does not tell its clock, or not over so short a time.
struct sample {
  double ms = 0, sm_mhz = 0;
};

class backend {
 public:
  virtual ~backend() = default;

  // 256-byte aligned. Throws failure when there is not enough memory.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) = 0;

  // Fills a buffer of data::word_count(x) elements; returns when done.
  virtual void fill(void* buffer, const data::matrix& x) = 0;
  // Which words no longer hold what fill() put there.
  virtual data::changes find_changes(const void* buffer, const data::matrix& x) = 0;
  // The same of a result that a kernel wrote into what fill() put there.
  virtual data::survey survey(const void* buffer, const data::matrix& x) = 0;
  // The same number for the same words, on every device.
  virtual std::uint64_t digest(const void* buffer, const data::matrix& x) = 0;
  // For each row the sum over its elements, as exact integers, times hash(key, column), mod 2^64.
  virtual std::vector<std::uint64_t> fold_rows(const void* buffer, const data::matrix& x,
                                               std::uint64_t key) = 0;
  // Makes the zones around a buffer out of bounds, or not, where a sanitizer watches.
  virtual void guard(const void* buffer, const data::matrix& x, bool out_of_bounds) = 0;
  virtual void copy_to_host(void* host, const void* memory, std::size_t bytes) = 0;
  virtual void copy_to_device(void* memory, const void* host, std::size_t bytes) = 0;

  // The stream that plugins get; null on the CPU.
  virtual void* stream() = 0;
  // An error that something left behind, cleared by asking; empty when there is none.
  virtual std::string pending_error() = 0;
  // Waits for everything on the device. Throws failure.
  virtual void synchronize() = 0;

  // Milliseconds that `enqueue`'s work takes on the device, caches cold where cold_cache() says so,
  // and the clock of its multiprocessors meanwhile.
  virtual sample time_ms(const std::function<void()>& enqueue) = 0;
  virtual bool cold_cache() const = 0;
  // Milliseconds for each of `runs` runs back to back, after one that finds the caches as it may.
  virtual sample time_hot_ms(const std::function<void()>& enqueue, int runs) = 0;
  // The same work by two clocks, as often as takes some milliseconds; nothing where there is only
  // one clock.
  virtual std::optional<clocks> compare_clocks(const std::function<void()>& enqueue) = 0;
  // Runs `enqueue`'s work to its end, as what a profiler that waits for its start shall see.
  virtual void profile(const std::function<void()>& enqueue) = 0;
};

// The backend of a device as devices::find gave its id; makes the device current.
std::unique_ptr<backend> open(const std::string& device_id);
std::unique_ptr<backend> open_cpu();
std::unique_ptr<backend> open_cuda(int ordinal);  // absent() in a build without CUDA

}  // namespace kzoo::devices
