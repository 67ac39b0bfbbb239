#include "devices/backend.hpp"
#include "devices/cuda/kernels.hpp"
#include "devices/cuda/runtime.hpp"
#include "devices/devices.hpp"
#include "os/places.hpp"

#include <cuda_profiler_api.h>
#include <fmt/format.h>
#include <boost/dll/shared_library.hpp>

#include <array>
#include <chrono>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace kzoo::devices {
namespace {

using cuda::check;

class cuda_backend final : public backend {
 public:
  explicit cuda_backend(int ordinal) {
    // A thread that waits for the GPU lets others have its core: several workers may wait, and the
    // host computes expected results.
    check(cudaInitDevice(ordinal, cudaDeviceScheduleYield, cudaInitDeviceFlagsAreValid),
          "cudaInitDevice");
    check(cudaSetDevice(ordinal), "cudaSetDevice");
    // Non-blocking streams: a kernel that a plugin launches on the default stream by mistake is
    // ordered neither after the filling of its matrices nor before the judgement of C.
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cudaStreamCreateWithFlags(&own_stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    void* gate = nullptr;
    check(cudaHostAlloc(&gate, sizeof *gate_, cudaHostAllocMapped), "cudaHostAlloc");
    gate_ = static_cast<volatile unsigned*>(gate);
    *gate_ = 0;
    check(cudaEventCreate(&start_), "cudaEventCreate");
    check(cudaEventCreate(&stop_), "cudaEventCreate");
    check(cudaEventCreateWithFlags(&others_, cudaEventDisableTiming), "cudaEventCreate");
    has_persisting_lines_ =
        cuda::attribute(cudaDevAttrMaxPersistingL2CacheSize, ordinal, "persisting L2 size") > 0;
    if (has_persisting_lines_)
      for (const cudaLimit limit : kLimits) limits_[limit] = value_of(limit);
    probe_.emplace();
    numbers_.emplace(ordinal);
    changes_.emplace();
    pause_ns_ = static_cast<long long*>(allocate(sizeof *pause_ns_, {}));
  }
  // No destructor: after a kernel has corrupted the context every call would fail.

  void* allocate(std::size_t bytes, const surroundings&) override {
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes), fmt::format("cudaMalloc of {} bytes", bytes).c_str());
    return memory;
  }
  void release(void* memory) override { check(cudaFree(memory), "cudaFree"); }
  bool faults_around() const override { return false; }

  void fill(void* buffer, const data::matrix& x) override {
    check(cuda::enqueue_fill(buffer, x, stream_), "filling a buffer");
  }

  void fill_row(void* buffer, const data::matrix& x, std::int64_t row) override {
    check(cuda::enqueue_fill_row(buffer, x, row, stream_), "filling a row");
  }

  std::vector<data::changes> find_changes(std::span<const filled_buffer> buffers) override {
    changes_->enqueue(buffers, stream_);
    synchronize();
    return changes_->found();
  }
  std::optional<std::int64_t> take_noted_write(const void*) override { return std::nullopt; }

  data::reading read(const void* buffer, const data::matrix& x) override {
    judge_.enqueue_reading(buffer, x, stream_);
    return judge_.reading(stream_);
  }
  examined_memory examine(std::span<const filled_buffer> buffers,
                          const filled_buffer& result) override {
    judge_.enqueue_reading(result.words, result.spec, stream_);
    examined_memory seen{find_changes(buffers), {}};
    seen.result = judge_.reading(stream_);
    return seen;
  }

  reference::product_findings judge(const void* buffer, const reference::product_check& expected,
                                    std::uint64_t key) override {
    judge_.reserve(expected);
    judge_.enqueue(buffer, expected, key, stream_);
    return judge_.findings(stream_);
  }

  // compute-sanitizer checks the bounds of whole allocations only.
  void mark_redzones(const void*, const data::matrix&, bool) override {}

  void copy_to_host(void* host, const void* memory, std::size_t bytes) override {
    synchronize();
    check(cudaMemcpy(host, memory, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy to the host");
  }

  void copy_to_device(void* memory, const void* host, std::size_t bytes) override {
    synchronize();
    // cudaMemcpy may return before a small copy has arrived, and stream_ does not wait for it.
    check(cudaMemcpyAsync(memory, host, bytes, cudaMemcpyHostToDevice, stream_),
          "cudaMemcpy to the device");
    check(cudaStreamSynchronize(stream_), "cudaMemcpy to the device");
  }

  void* stream() override { return stream_; }

  std::optional<std::string> pending_error() override {
    const cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) return std::nullopt;
    return cuda::describe(error);
  }

  double longest_pause_ms() override {
    constexpr long long kWatchNs = 6'000'000;  // GPUs give a process slices of about 2 ms
    constexpr double kNsPerMs = 1e6;
    check(cuda::enqueue_watch(kWatchNs, pause_ns_, stream_), "watching the device");
    long long ns = 0;
    copy_to_host(&ns, pause_ns_, sizeof ns);
    return static_cast<double>(ns) / kNsPerMs;
  }

  std::string restore_limits() override {
    std::string changed;
    for (const auto& [limit, first] : limits_) {
      const std::size_t now = value_of(limit);
      if (now == first) continue;
      changed += fmt::format("{}{} from {} to {}", changed.empty() ? "" : ", ", name_of(limit),
                             first, now);
      check(cudaDeviceSetLimit(limit, first), "cudaDeviceSetLimit");
    }
    return changed;
  }

  std::int64_t free_memory() override {
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return static_cast<std::int64_t>(free);
  }

  void synchronize() override { check(cudaDeviceSynchronize(), "while the kernel ran"); }

  finished_run run(const run_steps& steps, start from, other_streams others) override {
    if (from == start::hot) {
      steps.call();
      synchronize();  // also its work on other streams
    }
    if (from == start::cold && has_persisting_lines_) forget_persisting_lines();
    const std::vector<filled_buffer> numbers = steps.numbers();
    const reference::product_check expected = steps.expected();
    judge_.reserve(expected);
    const closed_gate gate(*this, from == start::idle);
    // The clocks are read outside the interval between the events. The first reading precedes the
    // flush, so that the time between the readings is long enough for the GPU's timer.
    numbers_->enqueue(numbers, from == start::cold, probe_->enqueue_start(stream_), stream_);
    if (from == start::idle) synchronize();
    check(cudaEventRecord(start_, stream_), "cudaEventRecord");
    if (others == other_streams::counted) cuda::hold_streams_until(start_);
    steps.call();
    if (others == other_streams::counted) cuda::wait_for_streams(stream_, others_);
    if (from == start::idle) synchronize();
    check(cudaEventRecord(stop_, stream_), "cudaEventRecord");
    probe_->enqueue_stop(stream_);
    gate.open();
    finished_run done;
    done.found = judge_after_stop(steps.output, expected);
    synchronize();
    done.alone = numbers_->was_alone();
    if (!done.alone && has_mps())
      throw failure(
          "the GPU's multiprocessors are shared with other processes, by NVIDIA's Multi-Process "
          "Service, and were not free when the numbers of a run came");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start_, stop_), "cudaEventElapsedTime");
    done.ms = ms;
    done.sm_mhz = probe_->mhz();
    return done;
  }
  bool cold_cache() const override { return true; }

  repeated_runs repeat(const run_steps& steps, double seconds) override {
    return repeat_in_batches(*this, steps, seconds, [&](std::int64_t batch) {
      while (laps_.size() < 2 * static_cast<std::size_t>(batch)) {
        laps_.emplace_back();
        check(cudaEventCreate(&laps_.back()), "cudaEventCreate");
      }
      const std::vector<filled_buffer> numbers = steps.numbers();
      const closed_gate gate(*this, false);  // no launch latency between start and stop
      numbers_->enqueue(numbers, false, nullptr, stream_);
      for (std::int64_t i = 0; i < batch; ++i) {
        if (i > 0) steps.fill_between();
        const auto lap = 2 * static_cast<std::size_t>(i);
        check(cudaEventRecord(laps_[lap], stream_), "cudaEventRecord");
        steps.call();
        check(cudaEventRecord(laps_[lap + 1], stream_), "cudaEventRecord");
      }
      gate.open();
      synchronize();
      double total = 0;
      for (std::int64_t i = 0; i < batch; ++i) {
        float ms = 0;
        const auto lap = 2 * static_cast<std::size_t>(i);
        check(cudaEventElapsedTime(&ms, laps_[lap], laps_[lap + 1]), "cudaEventElapsedTime");
        total += ms;
      }
      return total;
    });
  }

  void profile(const std::function<void()>& enqueue) override {
    synchronize();
    check(cudaProfilerStart(), "cudaProfilerStart");
    enqueue();
    synchronize();
    check(cudaProfilerStop(), "cudaProfilerStop");
  }

 private:
  // Holds the stream until open() or the scope's end, or 2 ms: a run() that waits must not hang.
  class closed_gate {
   public:
    closed_gate(cuda_backend& of, bool open) : of_(of) {
      constexpr long long kMostNs = 2'000'000;
      if (!open)
        check(cuda::enqueue_gate(const_cast<const unsigned*>(of_.gate_), ++of_.ticket_, kMostNs,
                                 of_.stream_),
              "holding the stream");
    }
    ~closed_gate() { open(); }
    closed_gate(const closed_gate&) = delete;
    closed_gate& operator=(const closed_gate&) = delete;

    // Lets work that already runs elsewhere finish, before the new numbers make its result wrong.
    void open() const {
      constexpr std::chrono::microseconds kHeadStart{30};
      const auto now = [] { return std::chrono::steady_clock::now(); };
      for (const auto called = now(); *of_.gate_ != of_.ticket_ && now() - called < kHeadStart;) {
      }
      *of_.gate_ = of_.ticket_;
    }

   private:
    cuda_backend& of_;
  };

  // Uses a separate stream, which waits for the stop event only.
  reference::product_findings judge_after_stop(const void* output,
                                               const reference::product_check& expected) {
    check(cudaStreamWaitEvent(own_stream_, stop_, 0), "cudaStreamWaitEvent");
    judge_.enqueue(output, expected, random_key(), own_stream_);
    return judge_.findings(own_stream_);
  }

  // Persisting lines stay in the L2 while other memory is written. An access-policy window left in
  // the stream would mark lines of the next fill.
  void forget_persisting_lines() {
    cudaStreamAttrValue none{};
    check(cudaStreamSetAttribute(stream_, cudaStreamAttributeAccessPolicyWindow, &none),
          "cudaStreamSetAttribute");
    check(cudaCtxResetPersistingL2Cache(), "cudaCtxResetPersistingL2Cache");
  }

  static constexpr std::array kLimits{cudaLimitPersistingL2CacheSize,
                                      cudaLimitMaxL2FetchGranularity};
  static const char* name_of(cudaLimit limit) {
    return limit == cudaLimitPersistingL2CacheSize ? "cudaLimitPersistingL2CacheSize"
                                                   : "cudaLimitMaxL2FetchGranularity";
  }
  static std::size_t value_of(cudaLimit limit) {
    std::size_t value = 0;
    check(cudaDeviceGetLimit(&value, limit), "cudaDeviceGetLimit");
    return value;
  }

  bool has_persisting_lines_ = false;        // since compute capability 8.0
  std::map<cudaLimit, std::size_t> limits_;  // initial values
  cudaStream_t stream_ = nullptr;
  cudaStream_t own_stream_ = nullptr;
  volatile unsigned* gate_ = nullptr;  // in host memory, mapped to the device
  unsigned ticket_ = 0;                // opens the newest run's gate
  cuda::product_judge judge_;
  std::optional<cuda::clock_probe> probe_;
  cudaEvent_t start_ = nullptr, stop_ = nullptr, others_ = nullptr;
  std::vector<cudaEvent_t> laps_;  // repeat()'s
  std::optional<cuda::exclusive_fill> numbers_;
  std::optional<cuda::change_search> changes_;
  long long* pause_ns_ = nullptr;  // of longest_pause_ms()
};

}  // namespace

std::unique_ptr<backend> open_cuda(int ordinal) { return std::make_unique<cuda_backend>(ordinal); }

namespace {

int count_devices(cudaError_t& error) {
  int count = 0;
  error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess) return count;
  cudaGetLastError();
  return 0;
}

std::string version(int number) {  // 13000 is 13.0
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

std::string pci_bus_id(int ordinal) {
  std::array<char, 32> text{};
  cuda::check(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), ordinal),
              "cudaDeviceGetPCIBusId");
  return text.data();
}

results::device describe(int ordinal) {
  cudaDeviceProp properties{};
  cuda::check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
  int driver = 0, runtime = 0;
  cuda::check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  cuda::check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");

  results::device d;
  d.id = fmt::format("cuda:{}", ordinal);
  d.name = properties.name;
  d.abi = {.struct_size = sizeof(kzoo_device),
           .kind = KZOO_CUDA,
           .ordinal = ordinal,
           .compute_capability = unsigned(10 * properties.major + properties.minor),
           .multiprocessors = unsigned(properties.multiProcessorCount),
           .shared_bytes_per_block = properties.sharedMemPerBlockOptin,
           .threads = 0,
           .reserved = 0};
  d.pci_bus_id = pci_bus_id(ordinal);
  d.memory_bytes = properties.totalGlobalMem;
  d.facts["compute_capability"] = fmt::format("{}.{}", properties.major, properties.minor);
  d.facts["multiprocessors"] = std::to_string(properties.multiProcessorCount);
  d.facts["l2_bytes"] = std::to_string(properties.l2CacheSize);
  const int clock_mhz = cuda::attribute(cudaDevAttrClockRate, ordinal, "clock rate") / 1000;
  d.highest_mhz = clock_mhz;
  d.facts["max_clock_mhz"] = std::to_string(clock_mhz);
  d.facts["driver_supports_cuda"] = version(driver);
  d.facts["runtime"] = version(runtime);
  std::ifstream kernel_module("/sys/module/nvidia/version");
  if (std::string number; kernel_module >> number) d.facts["driver"] = number;
  return d;
}

}  // namespace

std::vector<results::device> list_cuda() {
  cudaError_t error = cudaSuccess;
  const int count = count_devices(error);
  std::vector<results::device> gpus;
  for (int i = 0; i < count; ++i) gpus.push_back(describe(i));
  return gpus;
}

std::optional<std::string> why_no_cuda() {
  cudaError_t error = cudaSuccess;
  if (count_devices(error) > 0) return std::nullopt;
  const char* remedy = "Run on a machine with an NVIDIA GPU, or with --device cpu.";
  if (error == cudaErrorInsufficientDriver) {
    return fmt::format(
        "There is no CUDA device: no NVIDIA driver, or one too old for this CUDA runtime ({}). {}",
        cuda::describe(error), remedy);
  }
  if (error == cudaSuccess || error == cudaErrorNoDevice) {
    return fmt::format("There is no CUDA device on this machine ({}). {}",
                       cuda::describe(cudaErrorNoDevice), remedy);
  }
  return fmt::format(
      "CUDA cannot be used: {}. `nvidia-smi` may say more; --device cpu works "
      "without a GPU.",
      cuda::describe(error));
}

std::uint64_t free_cuda_memory(int ordinal) {
  cuda::check(cudaSetDevice(ordinal), "cudaSetDevice");
  std::size_t free = 0, total = 0;
  cuda::check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return free;
}

}  // namespace kzoo::devices

namespace kzoo::devices::cuda {
namespace {

// The part of the driver's ABI that is used here: the program is not linked with the driver.
using result = int;  // 0 is success
using context = void*;
using of_event = result(context, cudaEvent_t);

struct functions {
  functions() {
    std::error_code failed;
    library.load("libcuda.so.1", failed, boost::dll::load_mode::search_system_folders);
    if (failed || !library.has("cuCtxRecordEvent") || !library.has("cuCtxWaitEvent")) return;
    current = &library.get<result(context*)>("cuCtxGetCurrent");
    record = &library.get<of_event>("cuCtxRecordEvent");
    wait = &library.get<of_event>("cuCtxWaitEvent");
  }

  boost::dll::shared_library library;
  result (*current)(context*) = nullptr;
  of_event *record = nullptr, *wait = nullptr;
};
const functions& driver() {
  static const functions all;
  return all;
}

void call(of_event* function, cudaEvent_t event, const char* name) {
  context now = nullptr;
  result done = driver().current(&now);
  if (done == 0) done = function(now, event);
  if (done != 0) throw failure(fmt::format("{}: error {} of the driver", name, done));
}

}  // namespace

void hold_streams_until(cudaEvent_t event) {
  if (driver().wait != nullptr) call(driver().wait, event, "cuCtxWaitEvent");
}

void wait_for_streams(cudaStream_t stream, cudaEvent_t event) {
  if (driver().record == nullptr) return;
  call(driver().record, event, "cuCtxRecordEvent");
  check(cudaStreamWaitEvent(stream, event, 0), "cudaStreamWaitEvent");
}

}  // namespace kzoo::devices::cuda
