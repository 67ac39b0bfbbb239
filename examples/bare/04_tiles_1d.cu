// kzoo: entry=tiles_1d<64,64,8,8> grid=N/64,M/64 block=64*64/8 granularity=64,64,8
// kzoo: arguments=M,N,K,alpha,A,B,beta,C reads_c
#include <cassert>

// A thread computes TM elements of a column.
template <const int BM, const int BN, const int BK, const int TM>
__global__ void tiles_1d(int M, int N, int K, float alpha, const float* A, const float* B,
                         float beta, float* C) {
  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];
  assert(BM * BK == blockDim.x && BK * BN == blockDim.x);
  const uint row = threadIdx.x / BN, col = threadIdx.x % BN;
  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  C += blockIdx.y * BM * N + blockIdx.x * BN;
  float sums[TM] = {0.0};
  for (uint k0 = 0; k0 < K; k0 += BK) {
    As[threadIdx.x] = A[(threadIdx.x / BK) * K + threadIdx.x % BK];
    Bs[threadIdx.x] = B[(threadIdx.x / BN) * N + threadIdx.x % BN];
    __syncthreads();
    A += BK;
    B += BK * N;
    for (uint k = 0; k < BK; ++k) {
      const float b = Bs[k * BN + col];
      for (uint i = 0; i < TM; ++i) sums[i] += As[(row * TM + i) * BK + k] * b;
    }
    __syncthreads();
  }
  for (uint i = 0; i < TM; ++i) {
    float& c = C[(row * TM + i) * N + col];
    c = alpha * sums[i] + beta * c;
  }
}
