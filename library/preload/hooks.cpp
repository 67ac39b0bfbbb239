// The functions of cuBLAS that a program finds here when this library is preloaded. Each takes what
// libkzoo computes, and passes the rest on with the arguments that it got.
//
// cuBLAS's legacy cublasSgemm of <cublas.h> is not among them: that interface has no way to ask for
// its stream.

#include "pass_on.hpp"
#include "takeover.hpp"

#include <cublas_v2.h>
#include <cuda_fp16.h>

#include <cstdint>

using kzoo::preload::find_real;
using kzoo::preload::pass_on;
using kzoo::preload::take;

// INT: of sizes; T: of elements, whose type and sums in cuBLAS's words are the rest.
#define KZOO_GEMM(NAME, INT, T, ...)                                                              \
  cublasStatus_t NAME(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,  \
                      INT m, INT n, INT k, const T* alpha, const T* a, INT lda, const T* b,       \
                      INT ldb, const T* beta, T* c, INT ldc) {                                    \
    if (const auto status = take({handle, transa, transb, m, n, k, alpha, a, lda, 0, b, ldb, 0,   \
                                  beta, c, ldc, 0, 1, __VA_ARGS__}))                              \
      return *status;                                                                             \
    static void* const other = find_real(#NAME);                                                  \
    return pass_on(other, #NAME, handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, \
                   ldc);                                                                          \
  }
#define KZOO_BATCH(NAME, INT, T, ...)                                                              \
  cublasStatus_t NAME(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,   \
                      INT m, INT n, INT k, const T* alpha, const T* a, INT lda,                    \
                      long long stride_a, const T* b, INT ldb, long long stride_b, const T* beta,  \
                      T* c, INT ldc, long long stride_c, INT batch) {                              \
    if (const auto status = take({handle, transa, transb, m, n, k, alpha, a, lda, stride_a, b,     \
                                  ldb, stride_b, beta, c, ldc, stride_c, batch, __VA_ARGS__}))     \
      return *status;                                                                              \
    static void* const other = find_real(#NAME);                                                   \
    return pass_on(other, #NAME, handle, transa, transb, m, n, k, alpha, a, lda, stride_a, b, ldb, \
                   stride_b, beta, c, ldc, stride_c, batch);                                       \
  }
#define KZOO_GEMM_EX(NAME, INT)                                                                   \
  cublasStatus_t NAME(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,  \
                      INT m, INT n, INT k, const void* alpha, const void* a, cudaDataType type_a, \
                      INT lda, const void* b, cudaDataType type_b, INT ldb, const void* beta,     \
                      void* c, cudaDataType type_c, INT ldc, cublasComputeType_t compute,         \
                      cublasGemmAlgo_t algorithm) {                                               \
    if (const auto status =                                                                       \
            take({handle, transa, transb, m, n,   k, alpha, a,      lda,    0,      b,            \
                  ldb,    0,      beta,   c, ldc, 0, 1,     type_a, type_b, type_c, compute}))    \
      return *status;                                                                             \
    static void* const other = find_real(#NAME);                                                  \
    return pass_on(other, #NAME, handle, transa, transb, m, n, k, alpha, a, type_a, lda, b,       \
                   type_b, ldb, beta, c, type_c, ldc, compute, algorithm);                        \
  }
#define KZOO_BATCH_EX(NAME, INT)                                                                   \
  cublasStatus_t NAME(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,   \
                      INT m, INT n, INT k, const void* alpha, const void* a, cudaDataType type_a,  \
                      INT lda, long long stride_a, const void* b, cudaDataType type_b, INT ldb,    \
                      long long stride_b, const void* beta, void* c, cudaDataType type_c, INT ldc, \
                      long long stride_c, INT batch, cublasComputeType_t compute,                  \
                      cublasGemmAlgo_t algorithm) {                                                \
    if (const auto status =                                                                        \
            take({handle,   transa,   transb, m,      n,        k,      alpha, a,                  \
                  lda,      stride_a, b,      ldb,    stride_b, beta,   c,     ldc,                \
                  stride_c, batch,    type_a, type_b, type_c,   compute}))                         \
      return *status;                                                                              \
    static void* const other = find_real(#NAME);                                                   \
    return pass_on(other, #NAME, handle, transa, transb, m, n, k, alpha, a, type_a, lda, stride_a, \
                   b, type_b, ldb, stride_b, beta, c, type_c, ldc, stride_c, batch, compute,       \
                   algorithm);                                                                     \
  }
#define KZOO_SINGLE CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F
#define KZOO_DOUBLE CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F
#define KZOO_HALF CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F

extern "C" {

KZOO_GEMM(cublasSgemm_v2, int, float, KZOO_SINGLE)
KZOO_GEMM(cublasSgemm_v2_64, std::int64_t, float, KZOO_SINGLE)
KZOO_GEMM(cublasDgemm_v2, int, double, KZOO_DOUBLE)
KZOO_GEMM(cublasDgemm_v2_64, std::int64_t, double, KZOO_DOUBLE)
KZOO_GEMM(cublasHgemm, int, __half, KZOO_HALF)
KZOO_GEMM(cublasHgemm_64, std::int64_t, __half, KZOO_HALF)
KZOO_BATCH(cublasSgemmStridedBatched, int, float, KZOO_SINGLE)
KZOO_BATCH(cublasSgemmStridedBatched_64, std::int64_t, float, KZOO_SINGLE)
KZOO_BATCH(cublasDgemmStridedBatched, int, double, KZOO_DOUBLE)
KZOO_BATCH(cublasDgemmStridedBatched_64, std::int64_t, double, KZOO_DOUBLE)
KZOO_BATCH(cublasHgemmStridedBatched, int, __half, KZOO_HALF)
KZOO_BATCH(cublasHgemmStridedBatched_64, std::int64_t, __half, KZOO_HALF)
KZOO_GEMM_EX(cublasGemmEx, int)
KZOO_GEMM_EX(cublasGemmEx_64, std::int64_t)
KZOO_BATCH_EX(cublasGemmStridedBatchedEx, int)
KZOO_BATCH_EX(cublasGemmStridedBatchedEx_64, std::int64_t)

// A handle's workspace is libkzoo's, too. cuBLAS goes back to its own when the stream is set.
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, size_t bytes) {
  static void* const other = find_real("cublasSetWorkspace_v2");
  const cublasStatus_t status = pass_on(other, "cublasSetWorkspace_v2", handle, workspace, bytes);
  if (status == CUBLAS_STATUS_SUCCESS) kzoo::preload::set_workspace(handle, workspace, bytes);
  return status;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  static void* const other = find_real("cublasSetStream_v2");
  kzoo::preload::forget_workspace(handle);
  return pass_on(other, "cublasSetStream_v2", handle, stream);
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  static void* const other = find_real("cublasDestroy_v2");
  kzoo::preload::forget_workspace(handle);
  return pass_on(other, "cublasDestroy_v2", handle);
}
}
