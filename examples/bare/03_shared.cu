// kzoo: entry=shared_tiles<32> grid=M/32,N/32 block=32*32 granularity=32,32,32
// kzoo: arguments=M,N,K,alpha,A,B,beta,C reads_c
#include <cuda_runtime.h>

// Tiles of A and B go through shared memory.
template <const int SIDE>
__global__ void shared_tiles(int M, int N, int K, float alpha, const float* A, const float* B,
                             float beta, float* C) {
  __shared__ float As[SIDE * SIDE];
  __shared__ float Bs[SIDE * SIDE];
  const uint row = threadIdx.x / SIDE, col = threadIdx.x % SIDE;
  A += blockIdx.x * SIDE * K;
  B += blockIdx.y * SIDE;
  C += blockIdx.x * SIDE * N + blockIdx.y * SIDE;
  float sum = 0.0;
  for (int k0 = 0; k0 < K; k0 += SIDE) {
    As[row * SIDE + col] = A[row * K + col];
    Bs[row * SIDE + col] = B[row * N + col];
    __syncthreads();
    A += SIDE;
    B += SIDE * N;
    for (int k = 0; k < SIDE; ++k) sum += As[row * SIDE + k] * Bs[k * SIDE + col];
    __syncthreads();
  }
  C[row * N + col] = alpha * sum + beta * C[row * N + col];
}
