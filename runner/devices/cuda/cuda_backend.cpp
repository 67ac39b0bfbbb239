#include "devices/cuda/check.hpp"
#include "devices/cuda/clock_probe.hpp"
#include "devices/cuda/fill.hpp"

#include <cuda_profiler_api.h>
#include <fmt/format.h>

#include <chrono>
#include <optional>

namespace kzoo::devices {
namespace {

using cuda::check;

class cuda_backend final : public backend {
 public:
  explicit cuda_backend(int ordinal) {
    check(cudaSetDevice(ordinal), "cudaSetDevice");
    // A blocking stream: a kernel that a plugin launches on the default stream by mistake is still
    // ordered between the two events, so its time is not 0.
    check(cudaStreamCreate(&stream_), "cudaStreamCreate");
    check(cudaEventCreate(&start_), "cudaEventCreate");
    check(cudaEventCreate(&stop_), "cudaEventCreate");
    probe_.emplace();
    int l2_bytes = 0;
    check(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, ordinal), "L2 size");
    flush_bytes_ = 2 * static_cast<std::size_t>(l2_bytes);
    check(cudaMalloc(&flush_, flush_bytes_), "cudaMalloc for the L2 flush");
    scratch_bytes_ = sizeof(data::changes);
    check(cudaMalloc(&scratch_, scratch_bytes_), "cudaMalloc");
  }
  // No destructor: the backend lives as long as its process, and after a kernel has corrupted the
  // context every call would fail.

  void* allocate(std::size_t bytes) override {
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes), fmt::format("cudaMalloc of {} bytes", bytes).c_str());
    return memory;
  }
  void release(void* memory) override { check(cudaFree(memory), "cudaFree"); }

  void fill(void* buffer, const data::matrix& x) override {
    check(cuda::enqueue_fill(buffer, x, stream_), "filling a buffer");
    synchronize();
  }

  data::changes find_changes(const void* buffer, const data::matrix& x) override {
    return on_device(std::vector{data::changes{}}, "checking a buffer",
                     [&](data::changes* found) {
                       return cuda::enqueue_find_changes(buffer, x, found, stream_);
                     })
        .front();
  }

  data::survey survey(const void* buffer, const data::matrix& x) override {
    return on_device(
               std::vector{data::survey{}}, "checking a result",
               [&](data::survey* found) { return cuda::enqueue_survey(buffer, x, found, stream_); })
        .front();
  }

  std::uint64_t digest(const void* buffer, const data::matrix& x) override {
    return on_device(
               std::vector<std::uint64_t>(1), "hashing a buffer",
               [&](std::uint64_t* sum) { return cuda::enqueue_digest(buffer, x, sum, stream_); })
        .front();
  }

  std::vector<std::uint64_t> fold_rows(const void* buffer, const data::matrix& x,
                                       std::uint64_t key) override {
    return on_device(std::vector<std::uint64_t>(static_cast<std::size_t>(x.rows)), "summing rows",
                     [&](std::uint64_t* sums) {
                       return cuda::enqueue_fold_rows(buffer, x, key, sums, stream_);
                     });
  }

  // compute-sanitizer checks the bounds of whole allocations only.
  void mark_redzones(const void*, const data::matrix&, bool) override {}

  void copy_to_host(void* host, const void* memory, std::size_t bytes) override {
    check(cudaMemcpy(host, memory, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy to the host");
  }

  void copy_to_device(void* memory, const void* host, std::size_t bytes) override {
    check(cudaMemcpy(memory, host, bytes, cudaMemcpyHostToDevice), "cudaMemcpy to the device");
  }

  void* stream() override { return stream_; }

  std::string pending_error() override {
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? std::string{} : cuda::describe(error);
  }

  void synchronize() override { check(cudaDeviceSynchronize(), "while the kernel ran"); }

  sample time_ms(const std::function<void()>& enqueue) override {
    // The clocks are read outside the interval between the events, and the first time before the
    // flush: the flush makes the time between the stamps long enough for the GPU's timer, and the
    // host has no more to enqueue while it runs.
    probe_->enqueue_start(stream_);
    // Writing twice the size of the L2 evicts A, B and C. It also keeps the device busy for longer
    // than the host needs to enqueue what follows, so that no launch latency lies between the two
    // events.
    check(cudaMemsetAsync(flush_, 0, flush_bytes_, stream_), "flushing the L2");
    const double ms = between_events(enqueue, [&] { probe_->enqueue_stop(stream_); });
    return {ms, probe_->mhz()};
  }
  bool cold_cache() const override { return true; }

  sample time_hot_ms(const std::function<void()>& enqueue, int runs) override {
    probe_->enqueue_start(stream_);
    enqueue();
    const double all = between_events(
        [&] {
          for (int i = 0; i < runs; ++i) enqueue();
        },
        [&] { probe_->enqueue_stop(stream_); });
    return {all / runs, probe_->mhz()};
  }

  std::optional<clocks> compare_clocks(const std::function<void()>& enqueue) override {
    // Enough runs that launch latency and synchronization are small beside them.
    constexpr double kEnoughMs = 2.0;
    constexpr int kMostRuns = 256, kTries = 3;
    int runs = 1;
    clocks both = time_by_both(enqueue, runs);
    while (both.host_ms < kEnoughMs && runs < kMostRuns) both = time_by_both(enqueue, runs *= 2);
    // Other programs on the host or the device can lengthen the host's time, but not every time.
    for (int i = 1; i < kTries && both.disagree(); ++i) {
      const clocks again = time_by_both(enqueue, runs);
      if (again.host_ms - again.stream_ms < both.host_ms - both.stream_ms) both = again;
    }
    return both;
  }

  void profile(const std::function<void()>& enqueue) override {
    synchronize();
    check(cudaProfilerStart(), "cudaProfilerStart");
    enqueue();
    synchronize();
    check(cudaProfilerStop(), "cudaProfilerStop");
  }

 private:
  clocks time_by_both(const std::function<void()>& enqueue, int runs) {
    synchronize();
    const auto start = std::chrono::steady_clock::now();
    const double stream_ms = between_events(
        [&] {
          for (int i = 0; i < runs; ++i) enqueue();
        },
        [] {});
    const std::chrono::duration<double, std::milli> host = std::chrono::steady_clock::now() - start;
    return {host.count(), stream_ms};
  }

  // Milliseconds from the end of earlier work on the stream to the end of `enqueue`'s; returns when
  // the device is idle.
  template <class Enqueue, class EnqueueAfter>
  double between_events(const Enqueue& enqueue, const EnqueueAfter& enqueue_after) {
    check(cudaEventRecord(start_, stream_), "cudaEventRecord");
    enqueue();
    check(cudaEventRecord(stop_, stream_), "cudaEventRecord");
    enqueue_after();
    synchronize();
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start_, stop_), "cudaEventElapsedTime");
    return ms;
  }

  // Copies `numbers` to the device, calls enqueue(pointer to them), and returns what they then are.
  template <class T, class Enqueue>
  std::vector<T> on_device(std::vector<T> numbers, const char* doing, const Enqueue& enqueue) {
    const std::size_t bytes = numbers.size() * sizeof(T);
    if (bytes > scratch_bytes_) {
      check(cudaFree(scratch_), "cudaFree");
      scratch_bytes_ = 0;
      check(cudaMalloc(&scratch_, bytes), "cudaMalloc for the rows' sums");
      scratch_bytes_ = bytes;
    }
    check(cudaMemcpyAsync(scratch_, numbers.data(), bytes, cudaMemcpyDefault, stream_),
          "cudaMemcpy");
    check(enqueue(static_cast<T*>(scratch_)), doing);
    check(cudaMemcpyAsync(numbers.data(), scratch_, bytes, cudaMemcpyDefault, stream_),
          "cudaMemcpy");
    synchronize();
    return numbers;
  }

  cudaStream_t stream_ = nullptr;
  std::optional<cuda::clock_probe> probe_;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
  void* flush_ = nullptr;
  std::size_t flush_bytes_ = 0;
  void* scratch_ = nullptr;
  std::size_t scratch_bytes_ = 0;
};

}  // namespace

std::unique_ptr<backend> open_cuda(int ordinal) { return std::make_unique<cuda_backend>(ordinal); }

}  // namespace kzoo::devices
