// What a call costs: kzoo_sgemm beside cublasSgemm on matrices so small that little else counts.
//
//   overhead [N]     default 64; needs a GPU
//
// Host time: from before a call to after it, without waiting for the device. Device time: of one
// product among many that follow each other. Medians of rounds that take turns.

#include <kzoo/kzoo.hpp>

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}
void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasGetStatusString(status));
}

struct costs {
  std::vector<double> host_us, device_us;

  void print(const char* name) {
    const auto median = [](std::vector<double>& x) {
      std::nth_element(x.begin(), x.begin() + std::ptrdiff_t(x.size() / 2), x.end());
      return x[x.size() / 2];
    };
    std::printf("%-28s host %7.3f us, device %7.3f us a call\n", name, median(host_us),
                median(device_us));
  }
};

template <class Call>
void measure(cudaStream_t stream, const Call& call, costs& of) {
  constexpr int kCalls = 200;
  cudaEvent_t begin = nullptr, end = nullptr;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  check(cudaStreamSynchronize(stream));
  check(cudaEventRecord(begin, stream));
  const auto before = std::chrono::steady_clock::now();
  for (int i = 0; i < kCalls; ++i) call();
  const std::chrono::duration<double, std::micro> host = std::chrono::steady_clock::now() - before;
  check(cudaEventRecord(end, stream));
  check(cudaEventSynchronize(end));
  float ms = 0;
  check(cudaEventElapsedTime(&ms, begin, end));
  of.host_us.push_back(host.count() / kCalls);
  of.device_us.push_back(1e3 * double(ms) / kCalls);
  check(cudaEventDestroy(begin));
  check(cudaEventDestroy(end));
}

void compare(int n) {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream));
  cublasHandle_t blas = nullptr;
  check(cublasCreate(&blas));
  check(cublasSetStream(blas, stream));
  const kzoo::handle zoo;
  float *a = nullptr, *b = nullptr, *c = nullptr;
  const std::size_t bytes = sizeof(float) * std::size_t(n) * std::size_t(n);
  for (float** x : {&a, &b, &c}) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes));
    check(cudaMemset(memory, 0, bytes));
    *x = static_cast<float*>(memory);
  }
  const float one = 1, zero = 0;
  costs of_blas, of_zoo;
  constexpr int kRounds = 51;
  for (int round = 0; round < kRounds; ++round) {
    measure(
        stream,
        [&] {
          check(
              cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n));
        },
        of_blas);
    measure(
        stream,
        [&] { zoo.sgemm(KZOO_OP_N, KZOO_OP_N, n, n, n, one, a, n, b, n, zero, c, n, stream); },
        of_zoo);
  }
  std::printf("%d x %d x %d, fp32\n", n, n, n);
  of_blas.print("cublasSgemm");
  of_zoo.print((std::string("kzoo_sgemm: ") + kzoo_last_kernel()).c_str());
  check(cublasDestroy(blas));
}

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 64;
  if (n < 1 || n > 32768) return std::fprintf(stderr, "overhead [N], N from 1 to 32768\n"), 2;
  try {
    compare(n);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "overhead: %s\n", e.what());
    return 1;
  }
}
