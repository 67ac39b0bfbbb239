// C = alpha A B + beta C for fp32 matrices, row-major, rows of lda, ldb and ldc elements. It knows
// nothing of kernel-zoo: sgemm.toml says how it is launched. Each thread of 16 x 16 computes 4 x 4
// elements of a 64 x 64 tile.
extern "C" __global__ __launch_bounds__(256) void sgemm(int m, int n, int k, const float* a,
                                                        int lda, const float* b, int ldb, float* c,
                                                        int ldc, float alpha, float beta) {
  constexpr int kTile = 64, kDepth = 16, kEach = 4;
  __shared__ float a_tile[kDepth][kTile + 1], b_tile[kDepth][kTile];
  const int row = blockIdx.y * kTile, col = blockIdx.x * kTile;
  const int thread = threadIdx.y * 16 + threadIdx.x;
  float sums[kEach][kEach] = {};

  for (int start = 0; start < k; start += kDepth) {
    for (int i = thread; i < kTile * kDepth; i += 256) {
      const int am = i / kDepth, ak = i % kDepth, bk = i / kTile, bn = i % kTile;
      const bool a_inside = row + am < m && start + ak < k;
      const bool b_inside = start + bk < k && col + bn < n;
      a_tile[ak][am] = a_inside ? a[(long long)(row + am) * lda + start + ak] : 0.0f;
      b_tile[bk][bn] = b_inside ? b[(long long)(start + bk) * ldb + col + bn] : 0.0f;
    }
    __syncthreads();
    for (int kk = 0; kk < kDepth; ++kk)
      for (int i = 0; i < kEach; ++i)
        for (int j = 0; j < kEach; ++j)
          sums[i][j] += a_tile[kk][threadIdx.y + 16 * i] * b_tile[kk][threadIdx.x + 16 * j];
    __syncthreads();
  }

  for (int i = 0; i < kEach; ++i)
    for (int j = 0; j < kEach; ++j) {
      const int cm = row + threadIdx.y + 16 * i, cn = col + threadIdx.x + 16 * j;
      if (cm >= m || cn >= n) continue;
      float& out = c[(long long)cm * ldc + cn];
      out = beta == 0 ? alpha * sums[i][j] : alpha * sums[i][j] + beta * out;
    }
}
