#include "device.hpp"

#include <kzoo/kzoo.h>
#include <kzoo/error.hpp>

#include <cuda_runtime_api.h>

namespace kzoo::library {
namespace {

void check(cudaError_t status, const char* what, kzoo_status code = KZOO_UNAVAILABLE) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // reported here; must not appear as the failure of a later call
  throw error(code, std::string(what) + ": " + cudaGetErrorString(status));
}

cudaStream_t stream_of(void* stream) { return static_cast<cudaStream_t>(stream); }

class event : public marker {
 public:
  event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreate"); }
  ~event() override { cudaEventDestroy(event_); }
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  void record(void* stream) override {
    check(cudaEventRecord(event_, stream_of(stream)), "cudaEventRecord", KZOO_ERROR);
  }
  bool reached() override {
    const cudaError_t status = cudaEventQuery(event_);
    if (status == cudaErrorNotReady) return cudaGetLastError(), false;
    check(status, "cudaEventQuery");
    return true;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

class cuda_device : public device {
 public:
  explicit cuda_device(int ordinal) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
    name_ = properties.name;
    abi_ = {.struct_size = sizeof(kzoo_device),
            .kind = KZOO_CUDA,
            .ordinal = ordinal,
            .compute_capability = static_cast<unsigned>(10 * properties.major + properties.minor),
            .multiprocessors = static_cast<unsigned>(properties.multiProcessorCount),
            .shared_bytes_per_block = properties.sharedMemPerBlockOptin,
            .threads = 0,
            .reserved = 0};
  }

  const kzoo_device& abi() const override { return abi_; }
  std::string name() const override { return name_; }

  int make_current() override {
    int previous = 0;
    check(cudaGetDevice(&previous), "cudaGetDevice");
    if (previous != abi_.ordinal) check(cudaSetDevice(abi_.ordinal), "cudaSetDevice");
    return previous;
  }
  void restore(int previous) override {
    if (previous != abi_.ordinal) cudaSetDevice(previous);
  }

  std::uint64_t stream_id(void* stream) override {
    unsigned long long id = 0;
    check(cudaStreamGetId(stream_of(stream), &id), "cudaStreamGetId", KZOO_INVALID_ARGUMENT);
    return id;
  }
  bool is_capturing(void* stream) override {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(stream_of(stream), &status), "cudaStreamIsCapturing");
    return status != cudaStreamCaptureStatusNone;
  }
  void outside_captures(const std::function<void()>& action) override {
    struct relaxed {
      relaxed() { cudaThreadExchangeStreamCaptureMode(&mode); }
      ~relaxed() { cudaThreadExchangeStreamCaptureMode(&mode); }
      cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    } const scope;
    action();
  }

  // Stream-ordered, so that neither waits for the device.
  void* allocate(std::uint64_t bytes, void* stream) override {
    void* memory = nullptr;
    check(cudaMallocAsync(&memory, bytes, stream_of(stream)), "cudaMallocAsync",
          KZOO_OUT_OF_MEMORY);
    return memory;
  }
  void fill_with_zeros(void* memory, std::uint64_t bytes, void* stream) override {
    check(cudaMemsetAsync(memory, 0, bytes, stream_of(stream)), "cudaMemsetAsync");
  }
  void free(void* memory, void* stream) override { cudaFreeAsync(memory, stream_of(stream)); }
  void free_unused(void* memory) override { cudaFree(memory); }
  std::unique_ptr<marker> make_marker() override { return std::make_unique<event>(); }
  void wait_until_idle() override { check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); }

 private:
  kzoo_device abi_{};
  std::string name_;
};

}  // namespace

std::unique_ptr<device> open_cuda() {
  int ordinal = 0;
  check(cudaGetDevice(&ordinal), "there is no CUDA device", KZOO_UNAVAILABLE);
  int count = 0;
  check(cudaGetDeviceCount(&count), "there is no CUDA device", KZOO_UNAVAILABLE);
  return std::make_unique<cuda_device>(ordinal);
}

}  // namespace kzoo::library
