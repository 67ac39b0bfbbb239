// Misuse of the CUDA runtime, which the simulator does not have.
#include "hostile.hpp"
#include "spin_kernel.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

using hostile::gemm;
using hostile::honest;

// A launch fails in create, and the error is not fetched with cudaGetLastError.
struct sticky_error : honest {
  sticky_error(const kzoo_problem&, const kzoo_device&) {
    hostile::per_element_kernel<honest><<<1, 2048>>>({});
  }
};

// Computes on its own stream, so that events on the runner's stream measure nothing.
struct other_stream : honest {
  other_stream(const kzoo_problem&, const kzoo_device&) {
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  }
  ~other_stream() { cudaStreamDestroy(own); }
  void run(const gemm& g, kzoo::stream_t) const { honest::run(g, own); }
  cudaStream_t own = nullptr;
};

// Works on its own stream, for which the runner's stream waits.
struct ahead : honest {
  ahead(const kzoo_problem&, const kzoo_device&) {
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  }
  ~ahead() {
    cudaEventDestroy(done);
    cudaStreamDestroy(own);
  }
  void join(cudaStream_t stream) const {
    cudaEventRecord(done, own);
    cudaStreamWaitEvent(stream, done, 0);
  }
  cudaStream_t own = nullptr;
  cudaEvent_t done = nullptr;
};

// Multiplies while the runner's stream is held, then corrects for a changed row of A and of B.
__global__ void note_kernel(gemm g, float* of_a, float* of_b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < g.m) of_a[i] = g.a_at(i, 0);
  if (i < g.k) of_b[i] = g.b_at(i, 0);
}
__global__ void find_kernel(gemm g, const float* of_a, const float* of_b, int* changed) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < g.m && g.a_at(i, 0) != of_a[i]) changed[0] = i;
  if (i < g.k && g.b_at(i, 0) != of_b[i]) changed[1] = i;
}
__global__ void correct_kernel(gemm g, const int* changed) {
  const int row = hostile::row(), col = hostile::col();
  if (row >= g.m || col >= g.n) return;
  if (row == changed[0])
    hostile::store_product(g, row, col);
  else if (const int k = changed[1]; k >= 0)  // it had the opposite signs
    g.c[row * g.ldc + col] += 2 * g.a_at(row, k) * g.b_at(k, col);
}
struct multiplies_early : ahead {
  multiplies_early(const kzoo_problem& p, const kzoo_device& d) : ahead(p, d) {
    cudaMalloc(&of_a, sizeof(float) * p.m);
    cudaMalloc(&of_b, sizeof(float) * p.k);
    cudaMalloc(&changed, 2 * sizeof(int));
  }
  ~multiplies_early() {
    for (void* memory :
         {static_cast<void*>(of_a), static_cast<void*>(of_b), static_cast<void*>(changed)})
      cudaFree(memory);
  }
  void run(const gemm& g, kzoo::stream_t stream) const {
    constexpr int kThreads = 256;
    const int blocks = (g.m + g.k + kThreads - 1) / kThreads;
    note_kernel<<<blocks, kThreads, 0, own>>>(g, of_a, of_b);
    cudaMemsetAsync(changed, 0xff, 2 * sizeof(int), own);
    honest::run(g, own);
    join(stream);
    find_kernel<<<blocks, kThreads, 0, stream>>>(g, of_a, of_b, changed);
    hostile::launch(correct_kernel, g, stream, changed);
    cudaStreamSynchronize(own);  // the runner's stream is held until this returns
  }
  float *of_a = nullptr, *of_b = nullptr;
  int* changed = nullptr;
};

// Waits on the host for new numbers, then computes on its own stream before the timed section.
struct computes_in_flush : ahead {
  void run(const gemm& g, kzoo::stream_t stream) const {
    constexpr std::chrono::milliseconds kMost{3};
    const auto first_of_a = [&] {
      float first = 0;
      cudaMemcpyAsync(&first, g.a, sizeof first, cudaMemcpyDefault, own);
      cudaStreamSynchronize(own);
      return first;
    };
    const auto start = std::chrono::steady_clock::now();
    for (const float before = first_of_a();
         first_of_a() == before && std::chrono::steady_clock::now() - start < kMost;) {
    }
    honest::run(g, own);
    join(stream);
  }
  using ahead::ahead;
};

// Occupies some multiprocessors until new numbers arrive, or for 20 ms.
__global__ void wait_kernel(const volatile float* number) {
  constexpr long long kMostNs = 20'000'000;
  long long start = 0, now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  const float first = *number;
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (*number == first && now - start < kMostNs);
}
struct keeps_multiprocessors : ahead {
  void run(const gemm& g, kzoo::stream_t stream) const {
    wait_kernel<<<16, 128, 0, own>>>(g.a);
    honest::run(g, stream);
  }
  using ahead::ahead;
};

// Forgets the stream: the likeliest mistake of all.
struct default_stream : honest {
  void run(const gemm& g, kzoo::stream_t) const { honest::run(g, nullptr); }
};

struct leaks : honest {
  leaks(const kzoo_problem&, const kzoo_device&) {
    constexpr std::size_t kBytes = 32 << 20;
    void* kept = nullptr;
    cudaMalloc(&kept, kBytes);
  }
};

// Leaves no memory to its rivals.
struct takes_all_memory : honest {
  takes_all_memory(const kzoo_problem&, const kzoo_device&) {
    constexpr std::size_t kSmallest = 1 << 20;
    std::size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    void* kept = nullptr;
    for (std::size_t bytes = free; bytes >= kSmallest; bytes /= 2)
      while (cudaMalloc(&kept, bytes) == cudaSuccess) {
      }
    cudaGetLastError();
  }
};

// Slows its rivals: once destroyed, a thread enqueues work that outlives the stop of its process.
struct works_between_turns : honest {
  works_between_turns(const kzoo_problem&, const kzoo_device&) {
    static std::thread worker([] { enqueue(); });
    has_turn = true;
  }
  ~works_between_turns() { has_turn = false; }

  static void enqueue() {
    constexpr long long kNs = 50'000'000;
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (;;) {
      if (has_turn)
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      else if (cudaStreamQuery(stream) == cudaSuccess)
        hostile::spin_kernel<<<264, 256, 0, stream>>>(kNs);
    }
  }
  static inline std::atomic<bool> has_turn{false};
};

// Keeps B in a persisting part of the L2, by an access-policy window that it leaves in the stream.
struct persists_by_window : honest {
  persists_by_window(const kzoo_problem&, const kzoo_device&) {
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 24 << 20);
  }
  void run(const gemm& g, kzoo::stream_t stream) const {
    cudaStreamAttrValue value{};
    auto& window = value.accessPolicyWindow;
    window.base_ptr = const_cast<float*>(g.b);
    window.num_bytes = std::size_t(g.k) * std::size_t(g.ldb) * sizeof(float);
    window.hitRatio = 1;
    window.hitProp = cudaAccessPropertyPersisting;
    window.missProp = cudaAccessPropertyStreaming;
    cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value);
    honest::run(g, stream);
  }
};

// Keeps A and B in the L2 by evict_last loads.
__device__ float keep(const float& x) {
  float value;
  asm volatile(
      "{ .reg .b64 policy;\n"
      "createpolicy.fractional.L2::evict_last.b64 policy, 1.0;\n"
      "ld.global.L2::cache_hint.f32 %0, [%1], policy; }"
      : "=f"(value)
      : "l"(&x));
  return value;
}
struct persists_by_loads : hostile::per_element<persists_by_loads> {
  static __device__ void element(const gemm& g, int row, int col) {
    float sum = 0;
    for (int i = 0; i < g.k; ++i) sum += keep(g.a_at(row, i)) * keep(g.b_at(i, col));
    g.store(row, col, sum);
  }
};
// For comparison: loads without a cache policy.
__device__ float load(const float& x) {
  float value;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(value) : "l"(&x));
  return value;
}
struct plain_loads : hostile::per_element<plain_loads> {
  static __device__ void element(const gemm& g, int row, int col) {
    float sum = 0;
    for (int i = 0; i < g.k; ++i) sum += load(g.a_at(row, i)) * load(g.b_at(i, col));
    g.store(row, col, sum);
  }
};

// Adds KZOO_SLOWER_BY percent more terms, which do not change the sum.
__global__ void slowed_kernel(gemm g, int terms) {
  const int row = hostile::row(), col = hostile::col();
  if (row >= g.m || col >= g.n) return;
  float sum = 0;
  for (int i = 0; i < terms; ++i) {
    const int k = i < g.k ? i : i - g.k;
    const float term = g.a_at(row, k) * g.b_at(k, col);
    if (i < g.k)
      sum += term;
    else if (term == 12345.678f)
      sum = 0;  // never
  }
  g.store(row, col, sum);
}
struct slowed : honest {
  void run(const gemm& g, kzoo::stream_t stream) const {
    const char* percent = std::getenv("KZOO_SLOWER_BY");
    const int more = percent == nullptr ? 0 : std::atoi(percent);
    hostile::launch(slowed_kernel, g, stream, g.k + g.k * more / 100);
  }
};

// Fails if it sees more than one GPU.
struct sees_one_gpu : honest {
  sees_one_gpu(const kzoo_problem&, const kzoo_device&) {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count != 1)
      throw kzoo::error(KZOO_ERROR, "it sees " + std::to_string(count) + " GPUs");
  }
};

// Tries to unhide GPUs when it is loaded, if the variable is set.
[[maybe_unused]] const bool unhides =
    std::getenv("KZOO_UNHIDE_GPUS") != nullptr && unsetenv("CUDA_VISIBLE_DEVICES") == 0;

}  // namespace

KZOO_PLUGIN("cuda_runtime", "Misuses the CUDA runtime",
            kzoo::variant<sticky_error>("sticky_error", "leaves an error in create"),
            kzoo::variant<other_stream>("other_stream", "measured time close to 0"),
            kzoo::variant<honest>("honest", "must pass"),
            kzoo::variant<multiplies_early>("multiplies_early", "all but a row of A and of B"),
            kzoo::variant<computes_in_flush>("computes_in_flush", "gains nothing by it"),
            kzoo::variant<keeps_multiprocessors>("keeps_multiprocessors", "for the new numbers"),
            kzoo::variant<works_between_turns>("works_between_turns", "when others are timed"),
            kzoo::variant<persists_by_window>("persists_by_window", "B stays in the L2"),
            kzoo::variant<persists_by_loads>("persists_by_loads", "A and B stay in the L2"),
            kzoo::variant<plain_loads>("plain_loads", "must pass, and be as fast"),
            kzoo::variant<slowed>("slowed", "by a part that is named outside"),
            kzoo::variant<sees_one_gpu>("sees_one_gpu", "must pass"),
            kzoo::variant<leaks>("leaks", "32 MB each time"),
            kzoo::variant<takes_all_memory>("takes_all_memory", "of the device"),
            kzoo::variant<default_stream>("default_stream", "launches on the default stream"));
