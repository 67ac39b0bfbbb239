// kzoo: entry=two_stages<64,64,16,8,4> grid=N/64,M/64 block=64*64/(8*4) granularity=64,64,16
// kzoo: arguments=M,N,K,alpha,A,B,beta,C reads_c
// Two stages of tiles in turn, so that one barrier is enough.
template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void two_stages(int M, int N, int K, float alpha, const float* __restrict__ A,
                           const float* __restrict__ B, float beta, float* __restrict__ C) {
  constexpr uint threads = BM * BN / (TM * TN), ofA = BM * BK / threads, ofB = BK * BN / threads;
  __shared__ float As[2 * BM * BK];
  __shared__ float Bs[2 * BK * BN];
  const uint row = threadIdx.x / (BN / TN), col = threadIdx.x % (BN / TN);
  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  C += blockIdx.y * BM * N + blockIdx.x * BN;
  float sums[TM * TN] = {0.0};
  float nextA[ofA], nextB[ofB];
  auto fetch = [&](uint k0) {
    for (uint i = 0; i < ofA; ++i) {
      const uint e = threadIdx.x + i * threads;
      nextA[i] = A[(e / BK) * K + k0 + e % BK];
    }
    for (uint i = 0; i < ofB; ++i) {
      const uint e = threadIdx.x + i * threads;
      nextB[i] = B[(k0 + e / BN) * N + e % BN];
    }
  };
  auto keep = [&](float* toA, float* toB) {
    for (uint i = 0; i < ofA; ++i) toA[threadIdx.x + i * threads] = nextA[i];
    for (uint i = 0; i < ofB; ++i) toB[threadIdx.x + i * threads] = nextB[i];
  };
  fetch(0);
  keep(As, Bs);
  __syncthreads();
  uint stage = 0;
  for (uint k0 = 0; k0 < K; k0 += BK) {
    if (k0 + BK < K) fetch(k0 + BK);
    for (uint k = 0; k < BK; ++k)
      for (uint i = 0; i < TM; ++i)
        for (uint j = 0; j < TN; ++j)
          sums[i * TN + j] += As[stage * BM * BK + (row * TM + i) * BK + k] *
                              Bs[stage * BK * BN + k * BN + col * TN + j];
    stage ^= 1;
    if (k0 + BK < K) keep(As + stage * BM * BK, Bs + stage * BK * BN);
    __syncthreads();
  }
  for (uint i = 0; i < TM; ++i)
    for (uint j = 0; j < TN; ++j) {
      float& c = C[(row * TM + i) * N + col * TN + j];
      c = alpha * sums[i * TN + j] + beta * c;
    }
}
