/* libkzoo: kernels of the zoo, called from a program as cuBLAS is. docs/library.md is its page.
 *
 * C = alpha * op(A) * op(B) + beta * C, with cuBLAS's order of arguments: op(A) is m x k, op(B) is
 * k x n, and matrices are column-major unless a function or a field says row-major. Instead of in
 * the handle, the stream is an argument, so that threads can share a handle.
 *
 * A call enqueues its work on the stream and returns. It does not synchronize, and may be captured
 * in a CUDA graph. With beta = 0, C is not read. alpha and beta are in host memory, and read before
 * the call returns. A and B are read even where alpha is 0: a NaN in them then reaches C.
 *
 * All functions may be called from any thread at any time, except that kzoo_destroy must be the
 * last call with its handle.
 */
#ifndef KZOO_KZOO_H
#define KZOO_KZOO_H

#include <kzoo/abi.h> /* kzoo_status, kzoo_type, kzoo_device_kind, kzoo_precision */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define KZOO_API __attribute__((visibility("default")))
#else
#define KZOO_API
#endif

/* What functions return beside the codes of abi.h. Of those, KZOO_UNSUPPORTED says that no kernel
 * takes the problem, KZOO_UNAVAILABLE that a device or a plugin is missing. C is unchanged after
 * every code but KZOO_OK, KZOO_ERROR and KZOO_LAUNCH_FAILED. kzoo_last_error has a sentence. */
#define KZOO_NULL_POINTER 16u     /* a handle, matrix, alpha or beta is NULL */
#define KZOO_INVALID_SIZE 17u     /* a size, leading dimension, stride or batch */
#define KZOO_INVALID_ARGUMENT 18u /* an operation, an option, a struct_size */
#define KZOO_UNSUPPORTED_TYPE 19u /* unknown, or no kernel computes these types */
#define KZOO_DEVICE_SCALARS 20u   /* alpha and beta in device memory are not supported */
#define KZOO_WORKSPACE_TOO_SMALL                                  \
  21u /* the caller's; or the pool's, which a capture cannot grow \
       */
#define KZOO_OUT_OF_MEMORY 22u
#define KZOO_INVALID_TABLE 23u /* a tuned table: not readable, or made on another device */
#define KZOO_DECLINED 24u      /* the kernel that is chosen is of a plugin in options.declined */

/* With the values of cublasOperation_t. Matrices are real, so C is T. */
typedef uint32_t kzoo_operation;
#define KZOO_OP_N 0u
#define KZOO_OP_T 1u
#define KZOO_OP_C 2u

typedef struct kzoo_context* kzoo_handle;

/* Zero in a field stands for its default. */
typedef struct kzoo_options {
  uint64_t struct_size;    /* sizeof(kzoo_options) */
  kzoo_device_kind device; /* default: KZOO_CUDA, the device that is current now */
  /* KZOO_COMPUTE_FP32 (default): kernels that compute in fp32. KZOO_COMPUTE_FP32_SPLIT: also those
   * that make fp32 products of narrower parts, on tensor cores. */
  kzoo_precision precision;
  /* Folders and .so files, separated by colons. Default: $KZOO_PLUGIN_PATH, then the plugins that
   * were built or installed with this library. */
  const char* plugins;
  /* Kernels by name, separated by commas alone: "pipelined:128x256x16_s5", or "pipelined" for each
   * of its variants. The first that takes a problem computes it. Default: on a GPU `dispatch`,
   * where there is such a plugin, then a list of kernels that take every size (docs/library.md). */
  const char* kernels;
  /* A kzoo.tuned/1 file, which chooses before `kernels` does. Files that it names are not loaded:
   * its kernels are looked for in `plugins`. */
  const char* tuned;
  /* Plugins, separated by commas alone, that are never loaded: a problem for which one of them is
   * chosen is KZOO_DECLINED. */
  const char* declined;
  /* 1: also kernels that may round differently from run to run. */
  uint32_t nondeterministic, reserved;
  /* How many problems are kept ready for each stream. Default: 256. */
  uint64_t cached_problems;
} kzoo_options;

/* What kzoo_gemm_ex may be told beside cuBLAS's arguments; NULL stands for zeros. */
typedef struct kzoo_call {
  uint64_t struct_size; /* sizeof(kzoo_call) */
  /* A cudaStream_t. On the cpu it is any value: calls with the same one take turns. */
  void* stream;
  /* Scratch memory on the device, 256-byte aligned, for this call alone until its work is done.
   * NULL: the handle's pool. */
  void* workspace;
  uint64_t workspace_bytes;
  /* Not NULL: nothing is computed. The call stores how much workspace it would need, and prepares
   * what it can for the call that follows. Matrices are not read. */
  uint64_t* workspace_needed;
  uint32_t row_major; /* 1: A, B and C are row-major */
  uint32_t
      device_scalars; /* 1: alpha and beta are in device memory, which is KZOO_DEVICE_SCALARS */
  /* A batch of so many products, whose A, B and C start these strides, in elements, after those of
   * the one before; a stride of 0 for A or B: all have it in common. 0: one product. */
  int64_t batch, stride_a, stride_b, stride_c;
} kzoo_call;

/* `options` may be NULL. Loads the plugins that it may call, and does not wait for the device. */
KZOO_API kzoo_status kzoo_create(kzoo_handle* handle, const kzoo_options* options);
/* Waits until the device is idle. CUDA graphs that hold calls of the handle must not be launched
 * any more. NULL does nothing. */
KZOO_API kzoo_status kzoo_destroy(kzoo_handle handle);

KZOO_API kzoo_status kzoo_sgemm(kzoo_handle handle, kzoo_operation transa, kzoo_operation transb,
                                int64_t m, int64_t n, int64_t k, const float* alpha, const float* a,
                                int64_t lda, const float* b, int64_t ldb, const float* beta,
                                float* c, int64_t ldc, void* stream);
/* The same with row-major matrices. */
KZOO_API kzoo_status kzoo_sgemm_row_major(kzoo_handle handle, kzoo_operation transa,
                                          kzoo_operation transb, int64_t m, int64_t n, int64_t k,
                                          const float* alpha, const float* a, int64_t lda,
                                          const float* b, int64_t ldb, const float* beta, float* c,
                                          int64_t ldc, void* stream);
KZOO_API kzoo_status kzoo_sgemm_strided_batched(kzoo_handle handle, kzoo_operation transa,
                                                kzoo_operation transb, int64_t m, int64_t n,
                                                int64_t k, const float* alpha, const float* a,
                                                int64_t lda, int64_t stride_a, const float* b,
                                                int64_t ldb, int64_t stride_b, const float* beta,
                                                float* c, int64_t ldc, int64_t stride_c,
                                                int64_t batch, void* stream);
/* Any types that a kernel has. alpha and beta are double for KZOO_F64 matrices C, int32_t for
 * KZOO_I32, else float. */
KZOO_API kzoo_status kzoo_gemm_ex(kzoo_handle handle, kzoo_operation transa, kzoo_operation transb,
                                  int64_t m, int64_t n, int64_t k, const void* alpha, const void* a,
                                  kzoo_type type_a, int64_t lda, const void* b, kzoo_type type_b,
                                  int64_t ldb, const void* beta, void* c, kzoo_type type_c,
                                  int64_t ldc, const kzoo_call* call);

/* Of this thread's last call: why it failed, "" if it did not. Valid until its next call. */
KZOO_API const char* kzoo_last_error(void);
/* "plugin:variant", which computed this thread's last product; "" before the first. Valid until
 * the thread asks again. */
KZOO_API const char* kzoo_last_kernel(void);
/* "0.1.0", of the library that is loaded. */
KZOO_API const char* kzoo_version(void);
/* "KZOO_OK", or "unknown status". */
KZOO_API const char* kzoo_status_name(kzoo_status status);

#ifdef __cplusplus
}
#endif

#endif
