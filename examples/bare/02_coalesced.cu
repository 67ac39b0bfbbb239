// kzoo: entry=coalesced<32> grid=ceil_div(M,32),ceil_div(N,32) block=32*32
// kzoo: arguments=M,N,K,alpha,A,B,beta,C reads_c
#include <cublas_v2.h>
#include <cuda_runtime.h>

// Neighbouring threads compute neighbouring columns.
template <const uint SIDE>
__global__ void coalesced(int M, int N, int K, float alpha, const float* A, const float* B,
                          float beta, float* C) {
  const int row = blockIdx.x * SIDE + (threadIdx.x / SIDE);
  const int col = blockIdx.y * SIDE + (threadIdx.x % SIDE);
  if (row < M && col < N) {
    float sum = 0.0;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = alpha * sum + beta * C[row * N + col];
  }
}
