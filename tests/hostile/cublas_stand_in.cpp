// Stands in for a vendor's library, by name and with a GEMM function.

extern "C" void stand_in_product(int m, int n, int k, const float* a, int lda, const float* b,
                                 int ldb, float* c, int ldc) {
  for (int row = 0; row < m; ++row) {
    for (int col = 0; col < n; ++col) {
      float sum = 0;
      for (int i = 0; i < k; ++i) sum += a[row * lda + i] * b[i * ldb + col];
      c[row * ldc + col] = sum;
    }
  }
}
