// A training step of a perceptron with one hidden layer, in fp32 with cuBLAS: five products of
// N x N matrices, each of another layout or with another operand. It knows nothing of kernel-zoo:
// libkzoo_blas, preloaded, takes its products (docs/library.md).
//
//   mlp [N]      default 4096; prints the time of a step, and the largest error against fp64
//
// Matrices are column-major; a column is one sample of the batch.

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace {

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
  std::exit(1);
}
void check(cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  std::fprintf(stderr, "cuBLAS: %s\n", cublasGetStatusString(status));
  std::exit(1);
}

// h = max(0, z)
template <class T>
__global__ void relu(T* h, const T* z, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) h[i] = z[i] > 0 ? z[i] : T(0);
}
// d = y - t, the gradient of half the squared error
template <class T>
__global__ void difference(T* d, const T* y, const T* t, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) d[i] = y[i] - t[i];
}
// d = 0 where z was not above 0
template <class T>
__global__ void relu_backward(T* d, const T* z, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count && !(z[i] > 0)) d[i] = 0;
}

void gemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int n,
          const float* a, const float* b, float* c) {
  const float one = 1, zero = 0;
  check(cublasSgemm(handle, transa, transb, n, n, n, &one, a, n, b, n, &zero, c, n));
}
void gemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int n,
          const double* a, const double* b, double* c) {
  const double one = 1, zero = 0;
  check(cublasDgemm(handle, transa, transb, n, n, n, &one, a, n, b, n, &zero, c, n));
}

template <class T>
struct perceptron {
  int n;
  T *x, *target, *w1, *w2;                 // what is given
  T *z, *h, *y, *d_y, *d_w2, *d_h, *d_w1;  // what a step computes

  T* matrix(unsigned seed) const {
    void* memory = nullptr;
    const std::size_t count = std::size_t(n) * n;
    check(cudaMalloc(&memory, count * sizeof(T)));
    if (seed > 0) {
      // The same numbers for float and double: those that a float holds.
      std::mt19937 random(seed);
      std::vector<T> host(count);
      for (T& v : host) v = T((float(random()) * 0x1p-31f - 1) / std::sqrt(float(n)));
      check(cudaMemcpy(memory, host.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    }
    return static_cast<T*>(memory);
  }

  explicit perceptron(int size) : n(size) {
    x = matrix(1), target = matrix(2), w1 = matrix(3), w2 = matrix(4);
    for (T** m : {&z, &h, &y, &d_y, &d_w2, &d_h, &d_w1}) *m = matrix(0);
  }

  void step(cublasHandle_t handle) const {
    const int count = n * n, block = 256, grid = (count + block - 1) / block;
    gemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, w1, x, z);
    relu<<<grid, block>>>(h, z, count);
    gemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, w2, h, y);
    difference<<<grid, block>>>(d_y, y, target, count);
    gemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, d_y, h, d_w2);
    gemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, w2, d_y, d_h);
    relu_backward<<<grid, block>>>(d_h, z, count);
    gemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, d_h, x, d_w1);
    check(cudaGetLastError());
  }
};

// The largest difference, in units of the largest element.
double largest_error(const float* device, const double* exact_on_device, int n) {
  std::vector<float> got(std::size_t(n) * n);
  std::vector<double> exact(got.size());
  check(cudaMemcpy(got.data(), device, got.size() * sizeof(float), cudaMemcpyDeviceToHost));
  check(cudaMemcpy(exact.data(), exact_on_device, exact.size() * sizeof(double),
                   cudaMemcpyDeviceToHost));
  double error = 0, largest = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(got[i])) return INFINITY;
    error = std::max(error, std::abs(got[i] - exact[i]));
    largest = std::max(largest, std::abs(exact[i]));
  }
  return error / largest;
}

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 4096;
  if (n < 1 || n > 32768) return std::fprintf(stderr, "mlp [N], N from 1 to 32768\n"), 2;
  cublasHandle_t handle = nullptr;
  check(cublasCreate(&handle));
  const perceptron<float> net(n);
  constexpr int kWarmUp = 3, kSteps = 11;
  std::vector<float> times;
  cudaEvent_t begin = nullptr, end = nullptr;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  for (int i = 0; i < kWarmUp + kSteps; ++i) {
    check(cudaEventRecord(begin));
    net.step(handle);
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end));
    if (i >= kWarmUp) times.push_back(ms);
  }
  std::sort(times.begin(), times.end());

  const perceptron<double> exact(n);
  exact.step(handle);
  check(cudaDeviceSynchronize());
  std::printf("N %d: %.3f ms a step, largest error y %.2e, dW2 %.2e, dW1 %.2e\n", n,
              times[kSteps / 2], largest_error(net.y, exact.y, n),
              largest_error(net.d_w2, exact.d_w2, n), largest_error(net.d_w1, exact.d_w1, n));
  check(cublasDestroy(handle));
}
