#define WARPSIZE 32

namespace wt {
template <const int BM, const int BN, const int BK, const int THREADS>
__device__ void load(int N, int K, const float* A, const float* B, float* As, float* Bs) {
  for (uint i = threadIdx.x; i < BM * BK; i += THREADS)
    As[i % BK * BM + i / BK] = A[(i / BK) * K + i % BK];
  for (uint i = threadIdx.x; i < BK * BN; i += THREADS) Bs[i] = B[(i / BN) * N + i % BN];
}
}  // namespace wt

// A warp computes WM x WN elements, a thread TM x TN of them.
template <const int BM, const int BN, const int BK, const int WM, const int WN, const int TM,
          const int TN, const int THREADS>
__global__ void __launch_bounds__(THREADS)
    warp_tiles(int M, int N, int K, float alpha, float* A, float* B, float beta, float* C) {
  const uint warp = threadIdx.x / WARPSIZE, lane = threadIdx.x % WARPSIZE;
  const uint row = warp / (BN / WN) * WM + lane / (WN / TN) * TM;
  const uint col = warp % (BN / WN) * WN + lane % (WN / TN) * TN;
  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];
  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  C += blockIdx.y * BM * N + blockIdx.x * BN;
  float sums[TM * TN] = {0.0};
  for (uint k0 = 0; k0 < K; k0 += BK) {
    wt::load<BM, BN, BK, THREADS>(N, K, A, B, As, Bs);
    __syncthreads();
    for (uint k = 0; k < BK; ++k)
      for (uint i = 0; i < TM; ++i)
        for (uint j = 0; j < TN; ++j)
          sums[i * TN + j] += As[k * BM + row + i] * Bs[k * BN + col + j];
    A += BK;
    B += BK * N;
    __syncthreads();
  }
  for (uint i = 0; i < TM; ++i)
    for (uint j = 0; j < TN; ++j) {
      float& c = C[(row + i) * N + col + j];
      c = alpha * sums[i * TN + j] + beta * c;
    }
}
