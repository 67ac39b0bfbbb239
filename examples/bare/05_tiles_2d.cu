// kzoo: entry=tiles_2d<64,64,8,8,8> grid=N/64,M/64 block=64*64/(8*8) granularity=64,64,8
// kzoo: arguments=M,N,K,alpha,A,B,beta,C reads_c
// A thread computes TM x TN elements.
template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void __launch_bounds__((BM * BN) / (TM * TN), 1)
    tiles_2d(int M, int N, int K, float alpha, const float* A, const float* B, float beta,
             float* C) {
  constexpr uint threads = BM * BN / (TM * TN);
  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];
  const uint row = threadIdx.x / (BN / TN), col = threadIdx.x % (BN / TN);
  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  C += blockIdx.y * BM * N + blockIdx.x * BN;
  float sums[TM * TN] = {0.0};
  float a[TM], b[TN];
  for (uint k0 = 0; k0 < K; k0 += BK) {
    for (uint i = threadIdx.x; i < BM * BK; i += threads) As[i] = A[(i / BK) * K + i % BK];
    for (uint i = threadIdx.x; i < BK * BN; i += threads) Bs[i] = B[(i / BN) * N + i % BN];
    __syncthreads();
    A += BK;
    B += BK * N;
    for (uint k = 0; k < BK; ++k) {
      for (uint i = 0; i < TM; ++i) a[i] = As[(row * TM + i) * BK + k];
      for (uint j = 0; j < TN; ++j) b[j] = Bs[k * BN + col * TN + j];
      for (uint i = 0; i < TM; ++i)
        for (uint j = 0; j < TN; ++j) sums[i * TN + j] += a[i] * b[j];
    }
    __syncthreads();
  }
  for (uint i = 0; i < TM; ++i)
    for (uint j = 0; j < TN; ++j) {
      float& c = C[(row * TM + i) * N + col * TN + j];
      c = alpha * sums[i * TN + j] + beta * c;
    }
}
