
#include "devices/cuda/kernels.hpp"
#include "devices/cuda/runtime.hpp"
#include "microbenchmarks/cuda/busy_kernel.hpp"
#include "microbenchmarks/measure.hpp"
#include "os/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>

namespace kzoo::microbenchmarks {
namespace {

using devices::cuda::check;

// Much longer than the microseconds of a launch, much shorter than a GPU takes to heat up.
constexpr double kGpuSampleSeconds = 0.005;

void* device_memory(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), fmt::format("cudaMalloc of {} bytes", bytes).c_str());
  return memory;
}

std::size_t l2_bytes_of(const results::device& d) {
  return number_from<std::size_t>(d.fact("l2_bytes")).value_or(0);
}

// A GPU with the buffers and events that the kernels need; makes the device current.
class busy_gpu {
 public:
  explicit busy_gpu(const results::device& d) : sm_count_(int(d.abi.multiprocessors)) {
    check(cudaSetDevice(d.abi.ordinal), "cudaSetDevice");
    check(cudaEventCreate(&start_), "cudaEventCreate");
    check(cudaEventCreate(&stop_), "cudaEventCreate");
    clock_ = static_cast<cuda::elapsed*>(device_memory(sizeof(cuda::elapsed)));
    sink_ = static_cast<std::uint32_t*>(device_memory(sizeof(std::uint32_t)));
    // At sixteen times the L2's size, L2 hits are negligible.
    constexpr std::size_t kTimesL2 = 16, kShare = 4;
    buffer_bytes_ = std::min<std::size_t>(kTimesL2 * std::max(l2_bytes_of(d), std::size_t{1} << 22),
                                          devices::free_memory(d) / kShare);
    from_ = device_memory(buffer_bytes_);
    to_ = device_memory(buffer_bytes_);
    const auto words = std::int64_t(buffer_bytes_ / sizeof(float)) - 2 * data::kRedzone;
    const data::matrix fractions{KZOO_F32, data::content::uniform, 1, words, words, kSeed};
    check(devices::cuda::enqueue_fill(from_, fractions, nullptr), "filling a buffer");
    l2_part_bytes_ = l2_bytes_of(d) / 4;
  }
  ~busy_gpu() {
    cudaFree(clock_);
    cudaFree(sink_);
    cudaFree(from_);
    cudaFree(to_);
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }
  busy_gpu(const busy_gpu&) = delete;
  busy_gpu& operator=(const busy_gpu&) = delete;

  // Blocks that are resident on the device at once.
  int blocks(const cuda::busy_kernel& k) const {
    int each = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, k.function, k.threads, 0), k.name);
    return each * sm_count_;
  }
  std::size_t bytes(const cuda::busy_kernel& k) const {
    return k.accesses == 0                             ? 0
           : k.resource == roofline::resource::l2_read ? l2_part_bytes_
                                                       : buffer_bytes_;
  }

  run_time run(const cuda::busy_kernel& k, std::int64_t repetitions) {
    constexpr std::int64_t kMost = std::numeric_limits<int>::max();
    cuda::busy_arguments arguments{int(std::min(repetitions, kMost)),
                                   kSeed,
                                   clock_,
                                   sink_,
                                   static_cast<const uint4*>(from_),
                                   static_cast<uint4*>(to_),
                                   std::int64_t(bytes(k) / sizeof(uint4))};
    void* list[] = {&arguments};
    check(cudaEventRecord(start_), "cudaEventRecord");
    check(cudaLaunchKernel(k.function, dim3(unsigned(blocks(k))), dim3(unsigned(k.threads)), list,
                           0, nullptr),
          k.name);
    check(cudaEventRecord(stop_), "cudaEventRecord");
    check(cudaEventSynchronize(stop_), k.name);
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start_, stop_), "cudaEventElapsedTime");
    cuda::elapsed seen{};
    check(cudaMemcpy(&seen, clock_, sizeof seen, cudaMemcpyDeviceToHost), "cudaMemcpy");
    const double mhz =
        seen.nanoseconds > 0 ? 1e3 * double(seen.cycles) / double(seen.nanoseconds) : 0;
    return {double(ms) / 1e3, mhz};
  }

 private:
  static constexpr std::uint32_t kSeed = 20260101;
  int sm_count_;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
  cuda::elapsed* clock_ = nullptr;
  std::uint32_t* sink_ = nullptr;
  void *from_ = nullptr, *to_ = nullptr;
  std::size_t buffer_bytes_ = 0, l2_part_bytes_ = 0;
};

// Empty if no kernel reaches the peak: too low a peak would make correct times impossible.
std::vector<cuda::busy_kernel> tensor_kernels(unsigned compute_capability) {
  const unsigned major = compute_capability / 10;
  if (major == 8 || major == 12) return cuda::mma_kernels();
  if (major == 9) return cuda::wgmma_kernels();
  return {};
}

}  // namespace

std::vector<microbenchmark> on_cuda(const results::device& d) {
  const auto gpu = std::make_shared<busy_gpu>(d);
  std::vector<microbenchmark> all;
  for (const auto& kernels : {cuda::arithmetic_kernels(), tensor_kernels(d.abi.compute_capability),
                              cuda::memory_kernels()}) {
    for (const cuda::busy_kernel& k : kernels) {
      const double amount =
          k.operations * gpu->blocks(k) + double(k.accesses) * double(gpu->bytes(k));
      all.push_back({k.resource, k.name, amount, kGpuSampleSeconds,
                     [gpu, k](std::int64_t repetitions) { return gpu->run(k, repetitions); }});
    }
  }
  return all;
}

}  // namespace kzoo::microbenchmarks
