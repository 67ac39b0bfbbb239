#pragma once
// One product as a program asks cuBLAS for it, whichever function it calls.

#include <cublas_v2.h>

#include <cstdint>

namespace kzoo::preload {

struct blas_call {
  cublasHandle_t handle;
  cublasOperation_t transa, transb;
  std::int64_t m, n, k;
  const void* alpha;
  const void* a;
  std::int64_t lda, stride_a;
  const void* b;
  std::int64_t ldb, stride_b;
  const void* beta;
  void* c;
  std::int64_t ldc, stride_c, batch;
  cudaDataType_t type_a = CUDA_R_32F, type_b = CUDA_R_32F, type_c = CUDA_R_32F;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
};

}  // namespace kzoo::preload
