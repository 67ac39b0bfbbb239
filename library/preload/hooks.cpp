// The functions of cuBLAS that a program finds here when this library is preloaded. Each takes what
// libkzoo computes, and passes the rest on with the arguments that it got.
//
// cuBLAS's legacy cublasSgemm of <cublas.h> is not among them: that interface has no way to ask for
// its stream.

#include "real_cublas.hpp"
#include "takeover.hpp"

#include <cublas_v2.h>

#include <cstdio>

using kzoo::preload::blas_call;
using kzoo::preload::real;
using kzoo::preload::take;

namespace {

// cuBLAS's function of that name, with the arguments of the one that was called.
template <class Function, class... Argument>
cublasStatus_t pass_on(Function function, const char* name, Argument... arguments) {
  if (function != nullptr) return function(arguments...);
  std::fprintf(stderr, "kzoo_blas: there is no cuBLAS with %s in this process\n", name);
  return CUBLAS_STATUS_NOT_INITIALIZED;
}

}  // namespace

extern "C" {

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, int m, int n, int k, const float* alpha,
                              const float* a, int lda, const float* b, int ldb, const float* beta,
                              float* c, int ldc) {
  if (const auto status =
          take({handle, transa, transb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1}))
    return *status;
  static const auto other = real<decltype(&cublasSgemm_v2)>("cublasSgemm_v2");
  return pass_on(other, "cublasSgemm_v2", handle, transa, transb, m, n, k, alpha, a, lda, b, ldb,
                 beta, c, ldc);
}

cublasStatus_t cublasSgemm_v2_64(cublasHandle_t handle, cublasOperation_t transa,
                                 cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                 const float* alpha, const float* a, int64_t lda, const float* b,
                                 int64_t ldb, const float* beta, float* c, int64_t ldc) {
  if (const auto status =
          take({handle, transa, transb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1}))
    return *status;
  static const auto other = real<decltype(&cublasSgemm_v2_64)>("cublasSgemm_v2_64");
  return pass_on(other, "cublasSgemm_v2_64", handle, transa, transb, m, n, k, alpha, a, lda, b, ldb,
                 beta, c, ldc);
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, int m, int n, int k,
                                         const float* alpha, const float* a, int lda,
                                         long long stride_a, const float* b, int ldb,
                                         long long stride_b, const float* beta, float* c, int ldc,
                                         long long stride_c, int batch) {
  if (const auto status = take({handle, transa, transb, m, n, k, alpha, a, lda, stride_a, b, ldb,
                                stride_b, beta, c, ldc, stride_c, batch}))
    return *status;
  static const auto other = real<decltype(&cublasSgemmStridedBatched)>("cublasSgemmStridedBatched");
  return pass_on(other, "cublasSgemmStridedBatched", handle, transa, transb, m, n, k, alpha, a, lda,
                 stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, batch);
}

cublasStatus_t cublasSgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t transa,
                                            cublasOperation_t transb, int64_t m, int64_t n,
                                            int64_t k, const float* alpha, const float* a,
                                            int64_t lda, long long stride_a, const float* b,
                                            int64_t ldb, long long stride_b, const float* beta,
                                            float* c, int64_t ldc, long long stride_c,
                                            int64_t batch) {
  if (const auto status = take({handle, transa, transb, m, n, k, alpha, a, lda, stride_a, b, ldb,
                                stride_b, beta, c, ldc, stride_c, batch}))
    return *status;
  static const auto other =
      real<decltype(&cublasSgemmStridedBatched_64)>("cublasSgemmStridedBatched_64");
  return pass_on(other, "cublasSgemmStridedBatched_64", handle, transa, transb, m, n, k, alpha, a,
                 lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, batch);
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k, const void* alpha,
                            const void* a, cudaDataType type_a, int lda, const void* b,
                            cudaDataType type_b, int ldb, const void* beta, void* c,
                            cudaDataType type_c, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t algorithm) {
  if (const auto status =
          take({handle, transa, transb, m, n,   k, alpha, a,      lda,    0,      b,
                ldb,    0,      beta,   c, ldc, 0, 1,     type_a, type_b, type_c, compute}))
    return *status;
  using function = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int,
                                      int, int, const void*, const void*, cudaDataType, int,
                                      const void*, cudaDataType, int, const void*, void*,
                                      cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t);
  static const auto other = real<function>("cublasGemmEx");
  return pass_on(other, "cublasGemmEx", handle, transa, transb, m, n, k, alpha, a, type_a, lda, b,
                 type_b, ldb, beta, c, type_c, ldc, compute, algorithm);
}

cublasStatus_t cublasGemmEx_64(cublasHandle_t handle, cublasOperation_t transa,
                               cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                               const void* alpha, const void* a, cudaDataType type_a, int64_t lda,
                               const void* b, cudaDataType type_b, int64_t ldb, const void* beta,
                               void* c, cudaDataType type_c, int64_t ldc,
                               cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  if (const auto status =
          take({handle, transa, transb, m, n,   k, alpha, a,      lda,    0,      b,
                ldb,    0,      beta,   c, ldc, 0, 1,     type_a, type_b, type_c, compute}))
    return *status;
  static const auto other = real<decltype(&cublasGemmEx_64)>("cublasGemmEx_64");
  return pass_on(other, "cublasGemmEx_64", handle, transa, transb, m, n, k, alpha, a, type_a, lda,
                 b, type_b, ldb, beta, c, type_c, ldc, compute, algorithm);
}

// A handle's workspace is libkzoo's, too. cuBLAS goes back to its own when the stream is set.
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, size_t bytes) {
  static const auto other = real<decltype(&cublasSetWorkspace_v2)>("cublasSetWorkspace_v2");
  const cublasStatus_t status = pass_on(other, "cublasSetWorkspace_v2", handle, workspace, bytes);
  if (status == CUBLAS_STATUS_SUCCESS) kzoo::preload::set_workspace(handle, workspace, bytes);
  return status;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  static const auto other = real<decltype(&cublasSetStream_v2)>("cublasSetStream_v2");
  kzoo::preload::forget_workspace(handle);
  return pass_on(other, "cublasSetStream_v2", handle, stream);
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  static const auto other = real<decltype(&cublasDestroy_v2)>("cublasDestroy_v2");
  kzoo::preload::forget_workspace(handle);
  return pass_on(other, "cublasDestroy_v2", handle);
}
}
