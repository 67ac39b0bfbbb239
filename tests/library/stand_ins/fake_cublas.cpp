// cuBLAS as far as libkzoo_blas and its tests use it, for machines without a GPU: it computes
// nothing, and writes down which product it was asked for. Its symbols have cuBLAS's version.

#include "fake_cublas.hpp"

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>
#include <vector>

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

// What descriptions of cublasLt were given.
std::map<std::pair<const void*, int>, std::vector<char>> attributes;

cublasStatus_t set(const void* of, int which, const void* value, size_t bytes) {
  const auto* begin = static_cast<const char*>(value);
  attributes[{of, which}] = {begin, begin + bytes};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t get(const void* of, int which, void* value, size_t bytes, size_t* written) {
  const auto known = attributes.find({of, which});
  if (known == attributes.end() || known->second.size() != bytes)
    return CUBLAS_STATUS_INVALID_VALUE;
  std::ranges::copy(known->second, static_cast<char*>(value));
  *written = bytes;
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
cublasStatus_t cublasDgemm_v2(cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, int m, int n, int k, const double* alpha,
                              const double* a, int lda, const double* b, int ldb,
                              const double* beta, double* c, int ldc) {
  return note("cublasDgemm_v2", handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c,
              ldc);
}
cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, int k, const __half* alpha,
                           const __half* a, int lda, const __half* b, int ldb, const __half* beta,
                           __half* c, int ldc) {
  return note("cublasHgemm", handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k,
                                          const void* alpha, const void* a, cudaDataType type_a,
                                          int lda, long long stride_a, const void* b,
                                          cudaDataType type_b, int ldb, long long stride_b,
                                          const void* beta, void* c, cudaDataType type_c, int ldc,
                                          long long stride_c, int batch,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return note("cublasGemmStridedBatchedEx", handle, transa, transb, m, n, k, alpha, a, type_a, lda,
              stride_a, b, type_b, ldb, stride_b, beta, c, type_c, ldc, stride_c, batch, compute,
              algorithm);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* how, cublasComputeType_t compute,
                                        cudaDataType_t) {
  *how = new cublasLtMatmulDescOpaque_t;
  return set(*how, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, &compute, sizeof compute);
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t how,
                                              cublasLtMatmulDescAttributes_t which,
                                              const void* value, size_t bytes) {
  return set(how, which, value, bytes);
}
cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t how,
                                              cublasLtMatmulDescAttributes_t which, void* value,
                                              size_t bytes, size_t* written) {
  return get(how, which, value, bytes, written);
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t ld) {
  *layout = new cublasLtMatrixLayoutOpaque_t;
  set(*layout, CUBLASLT_MATRIX_LAYOUT_TYPE, &type, sizeof type);
  set(*layout, CUBLASLT_MATRIX_LAYOUT_ROWS, &rows, sizeof rows);
  set(*layout, CUBLASLT_MATRIX_LAYOUT_COLS, &columns, sizeof columns);
  return set(*layout, CUBLASLT_MATRIX_LAYOUT_LD, &ld, sizeof ld);
}
cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t which, void* value,
                                                size_t bytes, size_t* written) {
  return get(layout, which, value, bytes, written);
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t how, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t layout_a, const void* b,
                              cublasLtMatrixLayout_t layout_b, const void* beta, const void* c,
                              cublasLtMatrixLayout_t layout_c, void* d,
                              cublasLtMatrixLayout_t layout_d,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace, size_t bytes,
                              cudaStream_t stream) {
  return note("cublasLtMatmul", handle, how, alpha, a, layout_a, b, layout_b, beta, c, layout_c, d,
              layout_d, algorithm, workspace, bytes, stream);
}
}
