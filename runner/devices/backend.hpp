#pragma once
// A worker's interface to its device: memory, test data, synchronization and timing.

#include "data/contents.hpp"
#include "data/matrix.hpp"
#include "reference/product_check.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace kzoo::devices {

// Memory around an allocation that must not be touched.
struct surroundings {
  std::size_t bytes = 0;  // on either side
  const char* name = "";  // names the allocation; a literal
};

// Memory of the CPU's matrices: of this process, or shared with the kernel's worker.
class host_memory {
 public:
  virtual ~host_memory() = default;

  // 256-byte aligned; the caller releases it. Throws failure if memory runs out.
  virtual void* allocate(std::size_t bytes, const surroundings& around) = 0;
  virtual void release(void* memory) = 0;
  // Used while a kernel runs; its first write is noted.
  virtual void set_read_only(void* memory, bool read_only) = 0;
  // See backend::take_noted_write().
  virtual std::optional<std::int64_t> take_noted_write(const void* memory) = 0;
};

// A device operation failed; what() has the driver's or the runtime's error text.
class failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// State of the device when a run starts.
enum class start {
  cold,  // caches flushed, if cold_cache()
  hot,   // caches as an identical run left them
  idle   // device synchronized before and after, whichever stream has the work
};

// A buffer and its intended or actual contents.
struct filled_buffer {
  void* words;
  data::matrix spec;
  bool elements_may_change = false;  // find_changes() looks at the words around them only
};

struct examined_memory {
  std::vector<data::changes> changes;
  data::reading result;
};

// How a GPU treats work on streams other than the kernel's.
enum class other_streams {
  free,    // unrestricted: work that does not wait for the kernel's stream misses the run's numbers
  counted  // begins within the timed interval, which ends when the work is done
};

// A run of a kernel.
struct run_steps {
  // Contents of all matrices, with numbers that no run has had. Written as late as possible:
  // before, no memory that the kernel could read holds them.
  std::function<std::vector<filled_buffer>()> numbers;
  std::function<void()> call;          // enqueues the kernel on stream()
  std::function<void()> fill_between;  // between two calls in repeat(): changes the numbers of some
                                       // rows
  const void* output;                  // the result
  // The expected result; called after the last numbers() or fill_between().
  std::function<reference::product_check()> expected;
  std::vector<void*> inputs{};  // read-only during `call`: see take_noted_write()
};

struct finished_run {
  // GPU: no other kernel of this process was on the device when the numbers were written.
  bool alone = true;
  double ms = 0;      // the time of `call`
  double sm_mhz = 0;  // 0: unknown, or the run was too short
  // About the output at the end of the stream's work.
  reference::product_findings found;
};

// Consecutive runs of a kernel.
struct repeated_runs {
  std::int64_t count = 0;
  double ms = 0;                      // time of all runs
  reference::product_findings found;  // the last run's
};

class backend {
 public:
  virtual ~backend() = default;

  // Device memory, 256-byte aligned; the caller releases it. Throws failure if memory runs out. If
  // faults_around(), an access to its surroundings ends the process; otherwise `around` is ignored.
  virtual void* allocate(std::size_t bytes, const surroundings& around = {}) = 0;
  virtual bool faults_around() const = 0;
  virtual void release(void* memory) = 0;

  // Enqueues on stream(): fills a buffer of data::word_count(x) elements as x describes.
  virtual void fill(void* buffer, const data::matrix& x) = 0;
  // Enqueues on stream(): fills one row again, which may be x's late row.
  virtual void fill_row(void* buffer, const data::matrix& x, std::int64_t row) = 0;
  // For each buffer, the words that no longer hold what fill() wrote.
  virtual std::vector<data::changes> find_changes(std::span<const filled_buffer> buffers) = 0;
  // Byte offset of a kernel's first write to an input while it was read-only, even if the kernel
  // has restored the contents. Nothing without a write, or without read-only memory.
  virtual std::optional<std::int64_t> take_noted_write(const void* memory) = 0;
  // Reads a result that a kernel wrote into a buffer filled by fill(). Equal words have equal
  // digests (data::digest_term) on every device.
  virtual data::reading read(const void* buffer, const data::matrix& x) = 0;
  // find_changes() and read() with a single wait: processes that share a GPU take turns, so each
  // wait is long.
  virtual examined_memory examine(std::span<const filled_buffer> buffers,
                                  const filled_buffer& result) {
    return {find_changes(buffers), read(result.words, result.spec)};
  }
  // Judges such a result. `key` determines random choices; no kernel may know it before.
  virtual reference::product_findings judge(const void* buffer,
                                            const reference::product_check& expected,
                                            std::uint64_t key) = 0;
  // AddressSanitizer: marks the redzones of a buffer as out of bounds, or as in bounds again.
  virtual void mark_redzones(const void* buffer, const data::matrix& x, bool out_of_bounds) = 0;
  virtual void copy_to_host(void* host, const void* memory, std::size_t bytes) = 0;
  virtual void copy_to_device(void* memory, const void* host, std::size_t bytes) = 0;

  // The stream that plugins receive; null on the CPU.
  virtual void* stream() = 0;
  // Returns and clears an error of earlier work.
  virtual std::optional<std::string> pending_error() = 0;
  // The longest time in ms for which another process had the device; 0 on the CPU.
  virtual double longest_pause_ms() = 0;
  // Restores limits that all kernels of this process share. Returns the changes, as text; empty
  // if there were none.
  virtual std::string restore_limits() = 0;
  // Bytes of device memory that no process uses. Unlimited on the CPU.
  virtual std::int64_t free_memory() = 0;
  // Waits for all work on the device. Throws failure.
  virtual void synchronize() = 0;

  // A run, judged and, with other_streams::counted, timed. Holds the stream until the host has
  // enqueued everything, so that launch latency is not timed. Then the numbers are written; none of
  // the kernel's work runs before its timed interval. Throws failure.
  virtual finished_run run(const run_steps& steps, start from, other_streams others) = 0;
  virtual bool cold_cache() const = 0;
  // Keeps the device busy with runs for about `seconds`, in batches of random lengths. Each batch
  // has new numbers, and each run some of its own, written outside its time. Judges the last run of
  // each batch; ends after the first wrong result.
  virtual repeated_runs repeat(const run_steps& steps, double seconds) = 0;
  // Runs the work to its end between cudaProfilerStart and cudaProfilerStop, for a profiler.
  virtual void profile(const std::function<void()>& enqueue) = 0;
};

// Memory of a device, as long as the object.
class device_memory {
 public:
  device_memory(backend& on, std::size_t bytes, const surroundings& around = {})
      : backend_(on), memory_(on.allocate(bytes, around)) {}
  ~device_memory() { backend_.release(memory_); }
  device_memory(const device_memory&) = delete;
  device_memory& operator=(const device_memory&) = delete;

  void* get() const { return memory_; }

 private:
  backend& backend_;
  void* memory_;
};

// Opens the device with this id, as in results::device, and makes it current.
std::unique_ptr<backend> open(const std::string& device_id);
// Uses `memory`, by default this process's own.
std::unique_ptr<backend> open_cpu(host_memory* memory = nullptr);
std::unique_ptr<backend> open_cuda(int ordinal);  // throws absent in a build without CUDA

// A key that nobody can know before. Asks the system each time: a plugin could read a generator's
// state in memory.
inline std::uint64_t random_key() {
  static std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

// Keeps a device busy with one kernel. `time_batch(n)` writes new numbers and makes n runs, with
// fill_between() between them; returns their milliseconds. Batches grow until the work between two
// of them is negligible. Then their lengths are random, so that no run can know that it is the
// last, which is judged.
template <class TimeBatch>
repeated_runs repeat_in_batches(backend& on, const run_steps& steps, double seconds,
                                const TimeBatch& time_batch) {
  constexpr double kEnoughMs = 10;
  constexpr std::int64_t kMostRuns = 256;  // the stream's queue holds them
  const auto start = std::chrono::steady_clock::now();
  const auto out_of_time = [&] {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    return took.count() >= seconds;
  };
  repeated_runs all;
  for (std::int64_t usual = 1; all.count == 0 || !out_of_time();) {
    const auto spread = static_cast<std::uint64_t>(usual);
    const std::int64_t batch = usual / 2 + 1 + static_cast<std::int64_t>(random_key() % spread);
    const double ms = time_batch(batch);
    all.found = on.judge(steps.output, steps.expected(), random_key());
    const bool grown = ms >= kEnoughMs || usual == kMostRuns;
    if (grown || out_of_time() || !all.found.right()) {
      all.count += batch;
      all.ms += ms;
    }
    if (!all.found.right()) break;
    if (!grown) usual *= 2;
  }
  return all;
}

}  // namespace kzoo::devices
