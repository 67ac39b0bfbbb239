#pragma once
// What the library asks of the device that kernels run on: a GPU, or the CPU.

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
  virtual void record(void* stream) = 0;  // the place after all that is enqueued now
  virtual bool reached() = 0;
};

class device {
 public:
  virtual ~device() = default;
  virtual const kzoo_device& abi() const = 0;
  virtual std::string name() const = 0;

  // Makes it the calling thread's device; returns the one before, for restore().
  virtual int make_current() = 0;
  virtual void restore(int previous) = 0;

  // No other stream has it or had it, not even one at the same address.
  virtual std::uint64_t stream_id(void* stream) = 0;
  virtual bool is_capturing(void* stream) = 0;
  // Does what a capture of any thread would otherwise forbid: allocates, asks whether an event has
  // happened.
  virtual void outside_captures(const std::function<void()>& action) = 0;

  // Memory for what is enqueued from now on, 256-byte aligned. Throws kzoo::error.
  virtual void* allocate(std::uint64_t bytes, void* stream) = 0;
  // Enqueued on the stream.
  virtual void fill_with_zeros(void* memory, std::uint64_t bytes, void* stream) = 0;
  // Freed when all is done that is enqueued now.
  virtual void free(void* memory, void* stream) = 0;
  // Freed now: nothing uses it any more.
  virtual void free_unused(void* memory) = 0;
  virtual std::unique_ptr<marker> make_marker() = 0;
  virtual void wait_until_idle() = 0;
};

std::unique_ptr<device> open_cpu();
std::unique_ptr<device> open_cuda();  // the current one; throws kzoo::error

// The device is the calling thread's as long as this lives.
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
