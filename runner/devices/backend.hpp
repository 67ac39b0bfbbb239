#pragma once
// What a worker needs of its device: memory, test data, synchronization and timing. There is one
// implementation per kind of device.

#include "data/digest.hpp"
#include "data/matrix.hpp"
#include "devices/host_memory.hpp"
#include "reference/product_check.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace kzoo::devices {

// A device operation failed; what() has the error text of the driver or the runtime.
class failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What a run finds on the device when it starts.
enum class start {
  cold,  // caches flushed, if cold_cache()
  hot,   // caches as an identical run left them
  idle   // nothing: the device is synchronized before and after, whatever stream the work is on
};

// A buffer, and what it is to hold, or has been filled with.
struct filled_buffer {
  void* words;
  data::matrix spec;
};

// What a GPU does with work on other streams than the one that a kernel is given.
enum class other_streams {
  free,    // it begins when it can: what does not wait for the stream misses the numbers of the run
  counted  // it begins with the time of the run, which ends when it is done
};

// One run of a kernel.
struct run_steps {
  // What all matrices are to hold, with numbers that no run has had. It is written as late as can
  // be: before that, nothing of it is anywhere that the kernel could read.
  std::function<std::vector<filled_buffer>()> numbers;
  std::function<void()> call;          // the kernel: enqueues it on stream()
  std::function<void()> fill_between;  // in repeat(), between two calls: other numbers in some rows
  const void* output;                  // the result
  // What it should be; asked for after the last numbers() or fill_between().
  std::function<reference::product_check()> expected;
  std::vector<void*> inputs{};  // read-only during `call`: see take_noted_write()
};

struct finished_run {
  // On a GPU: no other kernel of this process was on the device when the numbers were written.
  bool alone = true;
  double ms = 0;      // of `call`
  double sm_mhz = 0;  // 0: not known, or not measurable over so short a time
  // Of the output at the moment when the stream had done its work.
  reference::product_findings found;
};

// Runs of a kernel one after the other.
struct repeated_runs {
  std::int64_t count = 0;
  double ms = 0;                      // of all of them
  reference::product_findings found;  // of the last one
};

class backend {
 public:
  virtual ~backend() = default;

  // Device memory, 256-byte aligned; the caller releases it. Throws failure if there is not enough.
  // Where faults_around(), an access to what is around it ends the process; elsewhere `around` is
  // ignored.
  virtual void* allocate(std::size_t bytes, const surroundings& around = {}) = 0;
  virtual bool faults_around() const = 0;
  virtual void release(void* memory) = 0;

  // Fills a buffer of data::word_count(x) elements with what x describes: enqueues it on stream().
  virtual void fill(void* buffer, const data::matrix& x) = 0;
  // Fills one row again, which may be what x has as its late row: enqueues it on stream().
  virtual void fill_row(void* buffer, const data::matrix& x, std::int64_t row) = 0;
  // The words that no longer hold what fill() wrote, of each buffer.
  virtual std::vector<data::changes> find_changes(std::span<const filled_buffer> buffers) = 0;
  // The offset in bytes at which a kernel wrote first to an input while it was read-only, even if
  // it has put back what was there; -1: it did not, or the device has no read-only memory.
  virtual std::int64_t take_noted_write(const void* memory) = 0;
  // Reads a result that a kernel wrote into a buffer filled by fill(). Digests (data::digest_term)
  // are the same for the same words, on every device.
  virtual data::reading read(const void* buffer, const data::matrix& x) = 0;
  // Judges such a result. What is left to chance follows from the key, which no kernel may know
  // before.
  virtual reference::product_findings judge(const void* buffer,
                                            const reference::product_check& expected,
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
  // The longest time in milliseconds for which another process had the device, while this one ran a
  // kernel that does nothing, for a few of their time slices; 0 on the CPU.
  virtual double longest_pause_ms() = 0;
  // Sets the limits that are shared by all kernels of this process back to what they were at first,
  // and says what they were changed to; "": they were not.
  virtual std::string restore_limits() = 0;
  // Bytes of the device's memory that no process uses. On the CPU without a limit: there each
  // process has a limit of its own.
  virtual std::int64_t free_memory() = 0;
  // Waits for all work on the device. Throws failure.
  virtual void synchronize() = 0;

  // One run, which is judged and, where other streams count, timed. Holds the stream back until the
  // host has enqueued everything, so that no launch latency can look like the kernel; then the
  // numbers are written, and nothing of the kernel's runs before its time begins. Throws failure.
  virtual finished_run run(const run_steps& steps, start from, other_streams others) = 0;
  virtual bool cold_cache() const = 0;
  // Keeps the device busy with runs for about so long, in batches of random lengths. Each batch has
  // other numbers, and each run some of its own, which are written outside its time. The last run
  // of each batch is judged; the first one that is wrong ends it all.
  virtual repeated_runs repeat(const run_steps& steps, double seconds) = 0;
  // Runs the work to its end between cudaProfilerStart and cudaProfilerStop, so that a profiler can
  // record it alone.
  virtual void profile(const std::function<void()>& enqueue) = 0;
};

// The backend of the device with this id, as in results::device; makes the device current.
std::unique_ptr<backend> open(const std::string& device_id);
// Its memory is `memory`, or by default this process's own.
std::unique_ptr<backend> open_cpu(host_memory* memory = nullptr);
std::unique_ptr<backend> open_cuda(int ordinal);  // throws absent in a build without CUDA

}  // namespace kzoo::devices
