// kzoo: entry=naive grid=ceil_div(M,32),ceil_div(N,32) block=32,32
// kzoo: arguments=M,N,K,alpha,A,B,beta,C reads_c
#include <cuda_runtime.h>

#include <cstdio>

// One thread for each element of C.
__global__ void naive(int M, int N, int K, float alpha, const float* A, const float* B, float beta,
                      float* C) {
  const uint row = blockIdx.x * blockDim.x + threadIdx.x;
  const uint col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  float sum = 0.0;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = alpha * sum + beta * C[row * N + col];
}
