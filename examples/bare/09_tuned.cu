// kzoo: entry=tuned<128,128,16,8,8> grid=N/128,M/128 block=256
// kzoo: granularity=128,128,16 row_bytes=16 arguments=M,N,K,alpha,A,B,beta,C reads_c

// As float4_loads, for the tile that was the fastest of many.
template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void tuned(int M, int N, int K, float alpha, float* A, float* B, float beta, float* C) {
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
    for (uint i = 4 * threadIdx.x; i < BM * BK; i += 4 * threads) {
      const float4 v = reinterpret_cast<float4*>(&A[(i / BK) * K + i % BK])[0];
      const uint m = i / BK, k = i % BK;
      As[(k + 0) * BM + m] = v.x;
      As[(k + 1) * BM + m] = v.y;
      As[(k + 2) * BM + m] = v.z;
      As[(k + 3) * BM + m] = v.w;
    }
    for (uint i = 4 * threadIdx.x; i < BK * BN; i += 4 * threads) {
      const float4 v = reinterpret_cast<float4*>(&B[(i / BN) * N + i % BN])[0];
      const uint k = i / BN, n = i % BN;
      reinterpret_cast<float4*>(&Bs[k * BN + n])[0] = v;
    }
    __syncthreads();
    A += BK;
    B += BK * N;
    for (uint k = 0; k < BK; ++k) {
      for (uint i = 0; i < TM; ++i) {
        const uint m = row * TM + i;
        a[i] = As[k * BM + m];
      }
      for (uint j = 0; j < TN; ++j) b[j] = Bs[k * BN + col * TN + j];
      for (uint i = 0; i < TM; ++i)
        for (uint j = 0; j < TN; ++j) sums[i * TN + j] += a[i] * b[j];
    }
    __syncthreads();
  }
  for (uint i = 0; i < TM; ++i)
    for (uint j = 0; j < TN; j += 4) {
      float4* c = reinterpret_cast<float4*>(&C[(row * TM + i) * N + col * TN + j]);
      float4 v = c[0];
      v.x = alpha * sums[i * TN + j + 0] + beta * v.x;
      v.y = alpha * sums[i * TN + j + 1] + beta * v.y;
      v.z = alpha * sums[i * TN + j + 2] + beta * v.z;
      v.w = alpha * sums[i * TN + j + 3] + beta * v.w;
      c[0] = v;
    }
}
