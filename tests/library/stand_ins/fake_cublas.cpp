// cuBLAS as far as libkzoo_blas and its tests use it, for machines without a GPU: it computes
// nothing, and writes down which product it was asked for. Its symbols have cuBLAS's version.

#include "fake_cublas.hpp"

#include <cublas_v2.h>

#include <atomic>

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
};

namespace {

std::atomic<int> calls = 0;
fake_cublas_call last;

template <class... Argument>
cublasStatus_t note(const char* name, Argument... rest) {
  last = {name, {}};
  int at = 0;
  ((last.arguments[at++] = (long long)(rest)), ...);
  ++calls;
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

int fake_cublas_calls() { return calls; }
const fake_cublas_call* fake_cublas_last() { return &last; }

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  *stream = handle->stream;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  handle->pointer_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
  *mode = handle->pointer_mode;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  handle->math_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  *mode = handle->math_mode;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t, void*, size_t) {
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, int m, int n, int k, const float* alpha,
                              const float* a, int lda, const float* b, int ldb, const float* beta,
                              float* c, int ldc) {
  return note("cublasSgemm_v2", handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c,
              ldc);
}
cublasStatus_t cublasSgemm_v2_64(cublasHandle_t handle, cublasOperation_t transa,
                                 cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                 const float* alpha, const float* a, int64_t lda, const float* b,
                                 int64_t ldb, const float* beta, float* c, int64_t ldc) {
  return note("cublasSgemm_v2_64", handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c,
              ldc);
}
cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, int m, int n, int k,
                                         const float* alpha, const float* a, int lda,
                                         long long stride_a, const float* b, int ldb,
                                         long long stride_b, const float* beta, float* c, int ldc,
                                         long long stride_c, int batch) {
  return note("cublasSgemmStridedBatched", handle, transa, transb, m, n, k, alpha, a, lda, stride_a,
              b, ldb, stride_b, beta, c, ldc, stride_c, batch);
}
cublasStatus_t cublasSgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t transa,
                                            cublasOperation_t transb, int64_t m, int64_t n,
                                            int64_t k, const float* alpha, const float* a,
                                            int64_t lda, long long stride_a, const float* b,
                                            int64_t ldb, long long stride_b, const float* beta,
                                            float* c, int64_t ldc, long long stride_c,
                                            int64_t batch) {
  return note("cublasSgemmStridedBatched_64", handle, transa, transb, m, n, k, alpha, a, lda,
              stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, batch);
}
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k, const void* alpha,
                            const void* a, cudaDataType type_a, int lda, const void* b,
                            cudaDataType type_b, int ldb, const void* beta, void* c,
                            cudaDataType type_c, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t algorithm) {
  return note("cublasGemmEx", handle, transa, transb, m, n, k, alpha, a, type_a, lda, b, type_b,
              ldb, beta, c, type_c, ldc, compute, algorithm);
}
cublasStatus_t cublasGemmEx_64(cublasHandle_t handle, cublasOperation_t transa,
                               cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                               const void* alpha, const void* a, cudaDataType type_a, int64_t lda,
                               const void* b, cudaDataType type_b, int64_t ldb, const void* beta,
                               void* c, cudaDataType type_c, int64_t ldc,
                               cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return note("cublasGemmEx_64", handle, transa, transb, m, n, k, alpha, a, type_a, lda, b, type_b,
              ldb, beta, c, type_c, ldc, compute, algorithm);
}
}
