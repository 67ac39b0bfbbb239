#pragma once
// The device that kernels run on: a GPU, or the CPU.

#include <kzoo/abi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace kzoo::library {

// A place in a stream.
class marker {
 public:
  virtual ~marker() = default;
  virtual void record(void* stream) = 0;  // the place after all work enqueued so far
  virtual bool reached() = 0;
};

class device {
 public:
  virtual ~device() = default;
  virtual const kzoo_device& abi() const = 0;
  virtual std::string name() const = 0;

  // Makes it the calling thread's device; returns the previous device, for restore().
  virtual int make_current() = 0;
  virtual void restore(int previous) = 0;

  // Unique among all streams ever created, even at the same address.
  virtual std::uint64_t stream_id(void* stream) = 0;
  virtual bool is_capturing(void* stream) = 0;
  // Runs `action` although a capture in any thread would forbid it: allocations, event queries.
  virtual void outside_captures(const std::function<void()>& action) = 0;

  // 256-byte aligned memory for work that is enqueued later. Throws kzoo::error.
  virtual void* allocate(std::uint64_t bytes, void* stream) = 0;
  // Enqueues it on the stream.
  virtual void fill_with_zeros(void* memory, std::uint64_t bytes, void* stream) = 0;
  // Freed after all work enqueued so far.
  virtual void free(void* memory, void* stream) = 0;
  // Freed now: nothing uses it any more.
  virtual void free_unused(void* memory) = 0;
  virtual std::unique_ptr<marker> make_marker() = 0;
  virtual void wait_until_idle() = 0;
};

std::unique_ptr<device> open_cpu();
std::unique_ptr<device> open_cuda();  // the current device; throws kzoo::error

// Makes the device the calling thread's during its life.
class current_device {
 public:
  explicit current_device(device& d) : device_(d), previous_(d.make_current()) {}
  ~current_device() { device_.restore(previous_); }
  current_device(const current_device&) = delete;
  current_device& operator=(const current_device&) = delete;

 private:
  device& device_;
  int previous_;
};

}  // namespace kzoo::library
