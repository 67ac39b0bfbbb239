/* libkzoo: kernels of the zoo, called like cuBLAS (docs/library.md).
 *
 * C = alpha * op(A) * op(B) + beta * C, with cuBLAS's order of arguments: op(A) is m x k, op(B) is
 * k x n. Matrices are column-major unless a function or a field says row-major. The stream is an
 * argument and not part of the handle, so that threads can share a handle.
 *
 * A call enqueues its work on the stream and returns. It does not synchronize, and a CUDA graph may
 * capture it. With beta = 0, C is not read. alpha and beta are in host memory, and read before the
 * call returns. A and B are read even if alpha is 0: a NaN in them then reaches C.
 *
 * All functions are thread-safe. kzoo_destroy must be the last call with its handle.
 */
#ifndef KZOO_KZOO_H
#define KZOO_KZOO_H

#include <kzoo/abi.h> /* kzoo_status, kzoo_type, kzoo_device_kind, kzoo_precision */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define KZOO_API __attribute__((visibility("default"))) /* on each function of the library */
#else
#define KZOO_API /* on each function of the library */
#endif

/* Return codes, as well as the codes of abi.h: KZOO_UNSUPPORTED means that no kernel supports the
 * problem, KZOO_UNAVAILABLE that a device or a plugin is missing. C is unchanged after every code
 * but KZOO_OK, KZOO_ERROR and KZOO_LAUNCH_FAILED. kzoo_last_error has a sentence. */
#define KZOO_NULL_POINTER 16u        /* a handle, matrix, alpha or beta is NULL */
#define KZOO_INVALID_SIZE 17u        /* a size, leading dimension, stride or batch */
#define KZOO_INVALID_ARGUMENT 18u    /* an operation, an option, a struct_size */
#define KZOO_UNSUPPORTED_TYPE 19u    /* unknown, or no kernel computes these types */
#define KZOO_DEVICE_SCALARS 20u      /* alpha and beta in device memory are not supported */
#define KZOO_WORKSPACE_TOO_SMALL 21u /* the caller's, or the pool's during a capture */
#define KZOO_OUT_OF_MEMORY 22u       /* of the host or the device */
#define KZOO_INVALID_TABLE 23u       /* a tuned table: unreadable, or made on another device */
#define KZOO_DECLINED 24u            /* the chosen kernel belongs to a plugin in options.declined */

/* The values of cublasOperation_t. Matrices are real, so C equals T. */
typedef uint32_t kzoo_operation;
#define KZOO_OP_N 0u /* the matrix as it is */
#define KZOO_OP_T 1u /* transposed */
#define KZOO_OP_C 2u /* transposed */

/* From kzoo_create to kzoo_destroy. Threads may share it. */
typedef struct kzoo_context* kzoo_handle;

/* A field that is 0 has its default. */
typedef struct kzoo_options {
  uint64_t struct_size;    /* sizeof(kzoo_options) */
  kzoo_device_kind device; /* default: KZOO_CUDA, the current device at kzoo_create */
  /* KZOO_COMPUTE_FP32 (default): kernels in the usual precision of their types, fp32 for f32.
   * KZOO_COMPUTE_FP32_SPLIT: also kernels that split fp32 operands into narrower parts. */
  kzoo_precision precision;
  /* Folders and .so files, separated by colons. Default: $KZOO_PLUGIN_PATH, then the plugins built
   * or installed with this library. */
  const char* plugins;
  /* Kernels by name, separated by commas without spaces: "pipelined:128x256x16_s5", or "pipelined"
   * for each of its variants. The first that supports a problem computes it. Default: on a GPU
   * `dispatch` if it is there, then kernels that support every size (docs/library.md). */
  const char* kernels;
  /* A kzoo.tuned/1 file, which takes precedence over `kernels`. Its kernels are looked for in
   * `plugins`; files that it names are not loaded. */
  const char* tuned;
  /* Plugins never to load, separated by commas without spaces. A problem for which such a plugin is
   * chosen returns KZOO_DECLINED. */
  const char* declined;
  /* nondeterministic 1: also kernels that may round differently from run to run. */
  uint32_t nondeterministic, reserved;
  /* Problems to keep ready for each stream. Default: 256. */
  uint64_t cached_problems;
} kzoo_options;

/* Arguments of kzoo_gemm_ex that cuBLAS does not have; NULL means all zeros. */
typedef struct kzoo_call {
  uint64_t struct_size; /* sizeof(kzoo_call) */
  /* A cudaStream_t. On the cpu any value; calls with equal values take turns. */
  void* stream;
  /* Device memory, 256-byte aligned, for this call only, until its work is done. NULL: from the
   * handle's pool. */
  void* workspace;
  uint64_t workspace_bytes; /* size of `workspace` */
  /* Not NULL: stores the bytes of workspace that the call needs, and prepares the next call. Reads
   * no matrix and computes nothing. */
  uint64_t* workspace_needed;
  uint32_t row_major;      /* 1: A, B and C are row-major */
  uint32_t device_scalars; /* 1: alpha and beta are in device memory; returns KZOO_DEVICE_SCALARS */
  /* batch: number of GEMMs; 0: a single GEMM. Strides: elements from each matrix to the next. A
   * stride of 0 for A or B: all GEMMs share the matrix. */
  int64_t batch, stride_a, stride_b, stride_c;
} kzoo_call;

/* Creates a handle and loads its plugins, without waiting for the device. `options` may be NULL. */
KZOO_API kzoo_status kzoo_create(kzoo_handle* handle, const kzoo_options* options);
/* Waits until the device is idle and destroys the handle. CUDA graphs with calls of the handle must
 * not be launched any more. NULL does nothing. */
KZOO_API kzoo_status kzoo_destroy(kzoo_handle handle);

/* An fp32 GEMM. Leading dimensions are in elements. A, B and C are the caller's device memory, on
 * the cpu host memory; `stream` is a cudaStream_t. */
KZOO_API kzoo_status kzoo_sgemm(kzoo_handle handle, kzoo_operation transa, kzoo_operation transb,
                                int64_t m, int64_t n, int64_t k, const float* alpha, const float* a,
                                int64_t lda, const float* b, int64_t ldb, const float* beta,
                                float* c, int64_t ldc, void* stream);
/* kzoo_sgemm with row-major matrices. */
KZOO_API kzoo_status kzoo_sgemm_row_major(kzoo_handle handle, kzoo_operation transa,
                                          kzoo_operation transb, int64_t m, int64_t n, int64_t k,
                                          const float* alpha, const float* a, int64_t lda,
                                          const float* b, int64_t ldb, const float* beta, float* c,
                                          int64_t ldc, void* stream);
/* `batch` GEMMs of one shape, with the same alpha and beta. Strides are in elements; 0 for A or B:
 * all GEMMs share the matrix. */
KZOO_API kzoo_status kzoo_sgemm_strided_batched(kzoo_handle handle, kzoo_operation transa,
                                                kzoo_operation transb, int64_t m, int64_t n,
                                                int64_t k, const float* alpha, const float* a,
                                                int64_t lda, int64_t stride_a, const float* b,
                                                int64_t ldb, int64_t stride_b, const float* beta,
                                                float* c, int64_t ldc, int64_t stride_c,
                                                int64_t batch, void* stream);
/* A GEMM of any types that a kernel supports. alpha and beta are double if C is KZOO_F64, int32_t
 * if it is KZOO_I32, else float. */
KZOO_API kzoo_status kzoo_gemm_ex(kzoo_handle handle, kzoo_operation transa, kzoo_operation transb,
                                  int64_t m, int64_t n, int64_t k, const void* alpha, const void* a,
                                  kzoo_type type_a, int64_t lda, const void* b, kzoo_type type_b,
                                  int64_t ldb, const void* beta, void* c, kzoo_type type_c,
                                  int64_t ldc, const kzoo_call* call);

/* Why this thread's last call failed; "" if it did not. Valid until the thread's next call. */
KZOO_API const char* kzoo_last_error(void);
/* The "plugin:variant" that computed this thread's last GEMM; "" before the first. Valid until the
 * thread calls this again. */
KZOO_API const char* kzoo_last_kernel(void);
/* The version of the loaded library: "0.2.0". */
KZOO_API const char* kzoo_version(void);
/* The name of a status: "KZOO_OK", or "unknown status". */
KZOO_API const char* kzoo_status_name(kzoo_status status);

#ifdef __cplusplus
}
#endif

#endif
