// Like unusual.cu, by features of the CUDA runtime that the simulator does not have.
#include "hostile.hpp"

#include <nvrtc.h>

#include <cstddef>
#include <string>
#include <vector>

namespace {

using hostile::gemm;
using hostile::honest;

struct backwards : hostile::per_element<backwards> {
  static __device__ void element(const gemm& g, int row, int col) {
    float sum = 0;
    for (int i = g.k - 1; i >= 0; --i) sum += g.a_at(row, i) * g.b_at(i, col);
    g.store(row, col, sum);
  }
};

// Times two kernels when it is created, and runs the faster.
struct autotuned : honest {
  autotuned(const kzoo_problem& p, const kzoo_device&) {
    float *a = nullptr, *b = nullptr, *c = nullptr;
    cudaMalloc(&a, std::size_t(p.m) * std::size_t(p.lda) * sizeof(float));
    cudaMalloc(&b, std::size_t(p.k) * std::size_t(p.ldb) * sizeof(float));
    cudaMalloc(&c, std::size_t(p.m) * std::size_t(p.ldc) * sizeof(float));
    gemm g{};
    g.m = int(p.m), g.n = int(p.n), g.k = int(p.k);
    g.lda = p.lda, g.ldb = p.ldb, g.ldc = p.ldc;
    g.a = a, g.b = b, g.c = c, g.alpha = 1;
    const float plain = ms_of([&] { honest::run(g, nullptr); });
    is_backwards = ms_of([&] { backwards().run(g, nullptr); }) < plain;
    for (float* each : {a, b, c}) cudaFree(each);
  }
  template <class Run>
  static float ms_of(const Run& run) {
    cudaEvent_t start = nullptr, stop = nullptr;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    cudaEventRecord(start);
    run();
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);
    float ms = 0;
    cudaEventElapsedTime(&ms, start, stop);
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    return ms;
  }
  void run(const gemm& g, kzoo::stream_t stream) const {
    is_backwards ? backwards().run(g, stream) : honest::run(g, stream);
  }
  bool is_backwards = false;
};

// Computes half of C on the given stream and half on its own.
struct forked_streams : honest {
  forked_streams(const kzoo_problem&, const kzoo_device&) {
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&forked, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&joined, cudaEventDisableTiming);
  }
  ~forked_streams() {
    cudaEventDestroy(joined);
    cudaEventDestroy(forked);
    cudaStreamDestroy(own);
  }
  void run(const gemm& g, kzoo::stream_t stream) const {
    gemm upper = g, lower = g;
    upper.m = g.m / 2;
    lower.m = g.m - upper.m;
    lower.a += std::size_t(upper.m) * std::size_t(g.lda);
    lower.c += std::size_t(upper.m) * std::size_t(g.ldc);
    cudaEventRecord(forked, stream);
    cudaStreamWaitEvent(own, forked);
    if (upper.m > 0) honest::run(upper, stream);
    honest::run(lower, own);
    cudaEventRecord(joined, own);
    cudaStreamWaitEvent(stream, joined);
  }
  cudaStream_t own = nullptr;
  cudaEvent_t forked = nullptr, joined = nullptr;
};

// Launches through a CUDA graph, captured again for other pointers.
struct graph : honest {
  graph(const kzoo_problem&, const kzoo_device&) {
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  }
  ~graph() {
    if (captured != nullptr) cudaGraphExecDestroy(captured);
    cudaStreamDestroy(own);
  }
  void run(const gemm& g, kzoo::stream_t stream) const {
    if (captured == nullptr || g.a != last.a || g.b != last.b || g.c != last.c) capture(g);
    cudaGraphLaunch(captured, stream);
  }
  void capture(const gemm& g) const {
    if (captured != nullptr) cudaGraphExecDestroy(captured);
    cudaGraph_t recorded = nullptr;
    cudaStreamBeginCapture(own, cudaStreamCaptureModeThreadLocal);
    honest::run(g, own);
    cudaStreamEndCapture(own, &recorded);
    cudaGraphInstantiate(&captured, recorded, 0);
    cudaGraphDestroy(recorded);
    last = g;
  }
  cudaStream_t own = nullptr;
  mutable cudaGraphExec_t captured = nullptr;
  mutable gemm last{};
};

struct compiled_in_create : honest {
  compiled_in_create(const kzoo_problem& p, const kzoo_device& d) {
    const std::string source = R"(
      extern "C" __global__ void product(int m, int n, int k, long lda, long ldb, long ldc,
                                         const float* a, const float* b, float* c, float alpha,
                                         float beta) {
        const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
        if (row >= m || col >= n) return;
        float sum = 0;
        for (int i = 0; i < k; ++i) sum += a[row * lda + i] * b[i * ldb + col];
        float& at = c[row * ldc + col];
        at = beta == 0 ? alpha * sum : alpha * sum + beta * at;
      })";
    const std::string arch = "--gpu-architecture=sm_" + std::to_string(d.compute_capability);
    const char* options[] = {arch.c_str()};
    nvrtcProgram program = nullptr;
    std::size_t size = 0;
    nvrtcCreateProgram(&program, source.c_str(), "product.cu", 0, nullptr, nullptr);
    if (nvrtcCompileProgram(program, 1, options) != NVRTC_SUCCESS)
      throw kzoo::error(KZOO_ERROR, "NVRTC does not compile it");
    nvrtcGetCUBINSize(program, &size);
    std::vector<char> cubin(size);
    nvrtcGetCUBIN(program, cubin.data());
    nvrtcDestroyProgram(&program);
    if (cudaLibraryLoadData(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0) !=
            cudaSuccess ||
        cudaLibraryGetKernel(&product, library, "product") != cudaSuccess)
      throw kzoo::error(KZOO_ERROR, "what NVRTC has compiled cannot be loaded");
    lda = p.lda, ldb = p.ldb, ldc = p.ldc;
  }
  ~compiled_in_create() { cudaLibraryUnload(library); }
  void run(const gemm& g, kzoo::stream_t stream) const {
    int m = g.m, n = g.n, k = g.k;
    float alpha = g.alpha, beta = g.beta;
    const float *a = g.a, *b = g.b;
    float* c = g.c;
    void* arguments[] = {&m, &n, &k, &lda, &ldb, &ldc, &a, &b, &c, &alpha, &beta};
    const dim3 grid(kzoo::ceil_div(g.n, 16), kzoo::ceil_div(g.m, 16));
    if (cudaLaunchKernel(product, grid, dim3(16, 16), arguments, 0, stream) != cudaSuccess)
      throw kzoo::error(KZOO_LAUNCH_FAILED, "cudaLaunchKernel fails");
  }
  cudaLibrary_t library = nullptr;
  cudaKernel_t product = nullptr;
  mutable long lda = 0, ldb = 0, ldc = 0;
};

}  // namespace

KZOO_PLUGIN("unusual_cuda", "Right, in ways that few kernels are",
            kzoo::variant<autotuned>("autotuned", "when it is created"),
            kzoo::variant<forked_streams>("forked_streams", "one of its own, joined"),
            kzoo::variant<graph>("graph", "a CUDA graph"),
            kzoo::variant<compiled_in_create>("compiled_in_create", "by NVRTC"));
