#include "devices/cuda/check.hpp"
#include "devices/cuda/fill.hpp"

namespace kzoo::devices {
namespace {

using cuda::check;

class cuda_backend final : public backend {
 public:
  explicit cuda_backend(int ordinal) {
    check(cudaSetDevice(ordinal), "cudaSetDevice");
    // Not a non-blocking stream: a kernel that a plugin puts on the default stream by mistake is
    // then still ordered between the two events, and its time is not nothing.
    check(cudaStreamCreate(&stream_), "cudaStreamCreate");
    check(cudaEventCreate(&start_), "cudaEventCreate");
    check(cudaEventCreate(&stop_), "cudaEventCreate");
    int l2_bytes = 0;
    check(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, ordinal), "L2 size");
    flush_bytes_ = 2 * static_cast<std::size_t>(l2_bytes);
    check(cudaMalloc(&flush_, flush_bytes_), "cudaMalloc for the L2 flush");
    void* memory = nullptr;
    check(cudaMalloc(&memory, sizeof(*count_)), "cudaMalloc");
    count_ = static_cast<unsigned long long*>(memory);
  }
  // No destructor: the process that opened the device ends with it, and a context that a kernel
  // has broken refuses every call.

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

  std::int64_t count_changed(const void* buffer, const data::matrix& x) override {
    unsigned long long changed = 0;
    check(cudaMemsetAsync(count_, 0, sizeof(*count_), stream_), "cudaMemset");
    check(cuda::enqueue_count_changed(buffer, x, count_, stream_), "checking a buffer");
    check(cudaMemcpyAsync(&changed, count_, sizeof(changed), cudaMemcpyDefault, stream_),
          "cudaMemcpy");
    synchronize();
    return static_cast<std::int64_t>(changed);
  }

  void copy_to_host(void* host, const void* memory, std::size_t bytes) override {
    check(cudaMemcpy(host, memory, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy to the host");
  }

  void* stream() override { return stream_; }

  std::string pending_error() override {
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? std::string{} : cuda::describe(error);
  }

  void synchronize() override { check(cudaDeviceSynchronize(), "while the kernel ran"); }

  double time_ms(const std::function<void()>& enqueue) override {
    // Writing twice the L2 leaves nothing of A, B or C in it. It also keeps the device busy for
    // longer than the host needs to enqueue what follows, so that no launch latency lies between
    // the two events.
    check(cudaMemsetAsync(flush_, 0, flush_bytes_, stream_), "flushing the L2");
    check(cudaEventRecord(start_, stream_), "cudaEventRecord");
    enqueue();
    check(cudaEventRecord(stop_, stream_), "cudaEventRecord");
    synchronize();
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start_, stop_), "cudaEventElapsedTime");
    return ms;
  }
  bool cold_cache() const override { return true; }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
  void* flush_ = nullptr;
  std::size_t flush_bytes_ = 0;
  unsigned long long* count_ = nullptr;
};

}  // namespace

std::unique_ptr<backend> open_cuda(int ordinal) { return std::make_unique<cuda_backend>(ordinal); }

}  // namespace kzoo::devices
