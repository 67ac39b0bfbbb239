/* kernel-zoo plugin ABI, major version 1.
 *
 * A plugin is a shared library that exports one constant data symbol, `kzoo_plugin_v1`, of type
 * kzoo_plugin. The major version is part of the symbol's name: a runner that speaks version 1 does
 * not find version 2, and a missing symbol is the mismatch. Nothing else is exported.
 *
 * Rules that keep old plugins and new runners working together:
 *  - plain C, fixed-width types, no CUDA, no C++ library type;
 *  - a struct that may grow starts with `struct_size`, set by whoever fills it. Fields are only
 *    appended, and an appended field's zero means "as before". kzoo_launch may grow too: its size
 *    is the list's `stride`. kzoo_text and kzoo_signature stay as they are;
 *  - a plugin that gets a problem with non-zero bytes past the struct it was built with answers
 *    KZOO_UNSUPPORTED (the C++ header does this by itself).
 *
 * Ownership: the caller owns every pointer it passes; a plugin owns only the instance it returns
 * from `create`, until `destroy`. No exception crosses this boundary, and nothing that one side
 * allocates is freed by the other. Errors are a status plus a sentence in the caller's buffer.
 *
 * Threading tags, one on each function:
 *  [any-thread]   pure; may be called from any thread at any time, also concurrently.
 *  [serial]       calls on one plugin come from one thread at a time.
 */
#ifndef KZOO_ABI_H
#define KZOO_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KZOO_ABI_MAJOR 1
#define KZOO_ABI_MINOR 2

/* The outcome of a call. Fixed width, so that the size of an enum never matters. */
typedef uint32_t kzoo_status;
#define KZOO_OK 0u
#define KZOO_UNSUPPORTED 1u   /* this variant does not do this problem; the text says why */
#define KZOO_UNAVAILABLE 2u   /* cannot work on this machine (library, driver, device missing) */
#define KZOO_ERROR 3u         /* something failed that should have worked */
#define KZOO_LAUNCH_FAILED 4u /* the kernel never started */

/* Element types in memory. */
typedef uint32_t kzoo_type;
#define KZOO_F32 1u
#define KZOO_F16 2u
#define KZOO_BF16 3u
#define KZOO_I32 4u
#define KZOO_F64 5u
/* C is never of one of the 8-bit types. */
#define KZOO_I8 6u
#define KZOO_E4M3 7u /* fp8: 4 exponent bits, 3 fraction bits, no infinity */
#define KZOO_E5M2 8u /* fp8: 5 exponent bits, 2 fraction bits */
/* Of B alone: signed integers of 4 bits, -8 to 7, two in a byte. The element at an even index of B,
 * i * ld + j, is in the low four bits. ld and strides count elements and are even. */
#define KZOO_I4 9u

/* The precision of products and accumulators. A result is judged by what its variant declares. */
typedef uint32_t kzoo_precision;
#define KZOO_COMPUTE_FP32 1u  /* fp32 products, fp32 accumulators */
#define KZOO_COMPUTE_TF32 2u  /* inputs rounded to TF32 (10 mantissa bits), fp32 accumulators */
#define KZOO_COMPUTE_FP16 3u  /* fp16 inputs, fp32 accumulators */
#define KZOO_COMPUTE_BF16 4u  /* bf16 inputs, fp32 accumulators */
#define KZOO_COMPUTE_INT32 5u /* 32-bit integers, wrapping */
/* As accurate as fp32, from products of narrower parts of the inputs,
 * on tensor cores */
#define KZOO_COMPUTE_FP32_SPLIT 6u
#define KZOO_COMPUTE_FP64 7u      /* fp64 products, fp64 accumulators */
#define KZOO_COMPUTE_FP16_SUMS 8u /* inputs rounded to fp16, fp16 accumulators */
/* fp8 inputs; sums of up to 128 products with 14 bits, added in fp32 */
#define KZOO_COMPUTE_FP8 9u
/* As accurate as fp32 for the largest elements of A and B: an error can be as large as one of
 * theirs, wherever these are. Strassen's algorithm; products of parts that have one exponent for a
 * whole row */
#define KZOO_COMPUTE_FP32_NORMWISE 10u

typedef uint32_t kzoo_device_kind;
#define KZOO_CPU 1u
#define KZOO_CUDA 2u

typedef uint32_t kzoo_layout;
#define KZOO_ROW_MAJOR 0u    /* element (i, j) at i * ld + j */
#define KZOO_COLUMN_MAJOR 1u /* element (i, j) at j * ld + i: transposed in memory, BLAS's 't' */

/* A buffer of the caller's for a sentence. A plugin writes at most `capacity` bytes, including the
 * closing NUL. `data` may be NULL when capacity is 0. */
typedef struct kzoo_text {
  char* data;
  uint64_t capacity;
} kzoo_text;

/* What a problem has beside A, B and C: read-only, row-major, element (i, j) at i * ld + j. A
 * vector of N has one row, a vector of M one column. */
typedef struct kzoo_operand {
  char name[24]; /* "bias", closed by NUL */
  kzoo_type type;
  uint32_t reserved;
  int64_t rows, cols, ld;
  int64_t stride; /* elements from one product of a batch, or group, to the next; 0: one for all */
} kzoo_operand;
#define KZOO_MOST_OPERANDS 8

/* What is done to each element x of alpha * A * B + beta * C before it is stored. An operand with
 * one row is the same for all rows of C, one with one column for all columns. */
typedef uint32_t kzoo_stage_kind;
#define KZOO_STAGE_ADD 1u       /* x + operand */
#define KZOO_STAGE_MULTIPLY 2u  /* x * operand */
#define KZOO_STAGE_RELU 3u      /* max(x, 0) */
#define KZOO_STAGE_GELU 4u      /* x / 2 (1 + erf(x / sqrt(2))) */
#define KZOO_STAGE_GELU_TANH 5u /* x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) */
#define KZOO_STAGE_SILU 6u      /* x / (1 + exp(-x)) */
#define KZOO_STAGE_CLAMP 7u     /* min(max(x, low), high) */
typedef struct kzoo_stage {
  kzoo_stage_kind kind;
  uint32_t operand; /* its index, of those that add or multiply */
  double low, high; /* of clamp */
} kzoo_stage;
#define KZOO_MOST_STAGES 8

/* A scale is common to a block of `extent` rows of A, or columns of B, and of `depth` steps of K;
 * 0 and 0: there are no scales. Where the extent is 1, the scales of neighbouring rows (columns)
 * are neighbours in memory: the scale for row (column) i at step k is element (k / depth, i) of its
 * operand, and else element (i / extent, k / depth). The rows of the operand start at multiples of
 * 16 bytes. Each A of a batch, and each B of a batch or of groups, has scales of its own, a stride
 * after those of the one before. */
typedef struct kzoo_scale_block {
  uint32_t extent, depth;
} kzoo_scale_block;

/* C = alpha * A * B + beta * C, A is m x k, B is k x n, C is m x n, whatever their layouts: the
 * layout says where an element is, not which element it is. With beta = 0, C is not read. Leading
 * dimensions count elements: where the matrix is row-major, lda >= k, ldb >= n and ldc >= n; where
 * it is column-major, lda >= m, ldb >= k and ldc >= m. The runner's C is row-major. Integer types
 * take integer alpha and beta. */
typedef struct kzoo_problem {
  uint64_t struct_size;
  int64_t m, n, k; /* each >= 1 */
  int64_t lda, ldb, ldc;
  kzoo_type type_a, type_b, type_c;
  kzoo_layout layout_a, layout_b, layout_c;
  double alpha, beta;
  uint64_t alignment; /* bytes: A, B, C and operands each start at a multiple of it */

  /* For A and B of 8-bit floating types: what their elements are multiplied by, within the range of
   * fp32. 0: 1. A kernel that wants them in device memory copies them in `create`. */
  double scale_a, scale_b;

  /* A batch: so many products of one shape, with the same alpha and beta. The A, B and C of product
   * i start i strides after those of the first; strides count elements. That of A or of B may be 0:
   * all products have it in common. Those of C, and any other, never overlap. A batch of 0 is one
   * product, as 1 is. */
  int64_t batch, stride_a, stride_b, stride_c;

  /* Minor version 1. What the problem has beside A, B and C: first what the product needs, scales
   * and offsets, then the operands of the epilogue, in its order; and the epilogue's stages, in the
   * order in which they are applied. */
  uint32_t operand_count, stage_count;
  kzoo_operand operands[KZOO_MOST_OPERANDS];
  kzoo_stage epilogue[KZOO_MOST_STAGES];

  /* Minor version 2. Scales of blocks: each element of A is multiplied by one of the operand
   * "scale_a", each of B by one of "scale_b", of f32, before the products are summed. */
  kzoo_scale_block scale_block_a, scale_block_b;

  /* Groups of rows that share A, C and a shape, each with a B of its own: row i of C is row i of A
   * times the B of the group g with offsets[g] <= i < offsets[g + 1], where "offsets" is an operand
   * of i32, one row of groups + 1 columns, from 0 to m; a group may be empty. The B of group g
   * starts g strides (stride_b) after that of the first. 0: no groups, and B as ever. A problem
   * with groups is no batch. */
  int64_t groups;
} kzoo_problem;

/* The device that a problem runs on. For the CPU only `kind` and `threads` mean anything. */
typedef struct kzoo_device {
  uint64_t struct_size;
  kzoo_device_kind kind;
  int32_t ordinal;
  uint32_t compute_capability; /* 10 * major + minor: 90 for sm_90; 0 on the CPU */
  uint32_t multiprocessors;
  uint64_t shared_bytes_per_block; /* the opt-in maximum */
  uint32_t threads;                /* CPU: hardware threads */
  uint32_t reserved;
} kzoo_device;

/* One kernel launch: its shape and what it takes of an SM. */
typedef struct kzoo_launch {
  uint32_t grid[3], block[3];
  uint64_t dynamic_shared; /* bytes per block */
  /* CUDA only, 0 on the CPU: */
  uint64_t static_shared;  /* bytes per block */
  uint64_t local_bytes;    /* per thread: spills and arrays that are not in registers */
  uint32_t registers;      /* per thread */
  uint32_t resident_warps; /* on one SM, as far as registers and shared memory allow */
  uint32_t most_warps;     /* that an SM holds: occupancy is resident over most */
  uint32_t reserved;
} kzoo_launch;

/* The caller's list, which `run` adds its launches to, in order, while there is room. */
typedef struct kzoo_launch_list {
  uint64_t struct_size;
  kzoo_launch* launches; /* the first of `capacity`, `stride` bytes apart */
  uint32_t capacity, stride;
  uint32_t count, reserved;
} kzoo_launch_list;

/* Where one call finds its data: device pointers on CUDA, host pointers on the CPU. */
typedef struct kzoo_arguments {
  uint64_t struct_size;
  const void* a;
  const void* b;
  void* c;
  void* workspace; /* workspace_bytes() bytes, 256-byte aligned, contents undefined */
  void* stream;    /* a cudaStream_t; NULL on the CPU, where `run` returns when the work is done */
  kzoo_launch_list* launches; /* NULL: not wanted. Runs that are timed may get a list too */
  /* Minor version 1. Element (0, 0) of each of the problem's operands, in their order: a list on
   * the host, valid during the call; NULL where there are none. Operands and C do not overlap. */
  const void* const* operands;
} kzoo_arguments;

/* The element types and the precision of one kind of problem that a variant computes. */
typedef struct kzoo_signature {
  kzoo_type type_a, type_b, type_c;
  kzoo_precision compute;
} kzoo_signature;

typedef struct kzoo_variant kzoo_variant;

/* One tuned configuration that a plugin offers: "register_tiles:128x128x8_8x8". Every function
 * gets the variant itself first, so one function can serve many of them. */
struct kzoo_variant {
  uint64_t struct_size;
  const char* id;      /* [A-Za-z0-9_.-]{1,100}, unique in the plugin */
  const char* summary; /* one sentence */
  const kzoo_signature* signatures;
  uint32_t signature_count;
  uint32_t compute_capability; /* the least it needs, as in kzoo_device; 0: any */
  const void* context;         /* the plugin's own */

  /* [any-thread] Can this variant do the problem on the device? Pure: no device call, nothing
   * kept. KZOO_UNSUPPORTED comes with the reason. */
  kzoo_status (*supports)(const kzoo_variant*, const kzoo_problem*, const kzoo_device*,
                          kzoo_text* reason);
  /* [any-thread] Bytes of scratch memory that `run` will find in kzoo_arguments::workspace;
   * UINT64_MAX when it cannot say. */
  uint64_t (*workspace_bytes)(const kzoo_variant*, const kzoo_problem*, const kzoo_device*);
  /* [serial] Set-up once per problem: handles, tensor maps, function attributes. The
   * device is current. Sets *instance, which may stay NULL. */
  kzoo_status (*create)(const kzoo_variant*, const kzoo_problem*, const kzoo_device*,
                        void** instance, kzoo_text* error);
  /* [serial] Enqueues the product on the stream and returns: no allocation, no synchronisation,
   * no printing. May be called again and again, with other pointers each time. */
  kzoo_status (*run)(const kzoo_variant*, void* instance, const kzoo_arguments*, kzoo_text* error);
  /* [serial] Frees the instance. The stream is idle. Never NULL, also where create does nothing. */
  void (*destroy)(const kzoo_variant*, void* instance);

  /* 1: two runs on the same data may differ in rounding, for example where atomics add in no fixed
   * order. 0: they are the same to the last bit. */
  uint32_t nondeterministic;
  uint32_t reserved;

  /* The sizes that it takes: M, N and K must be multiples of these, and each row of A, B and C, or
   * column of one that is column-major, must start at a multiple of row_alignment bytes; 0: any.
   * `supports` declines all others. From these the runner knows which sizes to choose for its
   * checks. */
  uint32_t multiple_m, multiple_n, multiple_k;
  uint32_t row_alignment;
};

typedef struct kzoo_plugin {
  uint64_t struct_size;
  uint32_t abi_minor;
  kzoo_device_kind device; /* where this library's kernels run */
  const char* id;          /* [A-Za-z0-9_.-]{1,100} */
  const char* summary;
  const char* build_info;       /* compiler, flags, architectures: free text for the record */
  const kzoo_variant* variants; /* the first of variant_count, variant_stride bytes apart */
  uint32_t variant_count;
  uint32_t variant_stride;
  uint32_t native; /* CPU only: 1 when it runs at the CPU's own speed, 0 under the simulator */
  uint32_t reserved;
} kzoo_plugin;

#define KZOO_PLUGIN_SYMBOL kzoo_plugin_v1
#define KZOO_PLUGIN_SYMBOL_NAME "kzoo_plugin_v1"

/* The layout is the contract: no plugin is built by a compiler that has another one. */
#ifdef __cplusplus
#define KZOO_ABI_ASSERT static_assert
#else
#define KZOO_ABI_ASSERT _Static_assert
#endif
KZOO_ABI_ASSERT(offsetof(kzoo_problem, m) == 8, "kzoo_problem");
KZOO_ABI_ASSERT(offsetof(kzoo_problem, type_a) == 56, "kzoo_problem");
KZOO_ABI_ASSERT(offsetof(kzoo_problem, alpha) == 80, "kzoo_problem");
KZOO_ABI_ASSERT(offsetof(kzoo_problem, scale_a) == 104, "kzoo_problem");
KZOO_ABI_ASSERT(offsetof(kzoo_problem, batch) == 120, "kzoo_problem");
KZOO_ABI_ASSERT(offsetof(kzoo_problem, operand_count) == 152, "kzoo_problem");
KZOO_ABI_ASSERT(offsetof(kzoo_problem, epilogue) == 672, "kzoo_problem");
KZOO_ABI_ASSERT(offsetof(kzoo_problem, scale_block_a) == 864, "kzoo_problem");
KZOO_ABI_ASSERT(offsetof(kzoo_problem, groups) == 880, "kzoo_problem");
KZOO_ABI_ASSERT(sizeof(kzoo_problem) == 888, "kzoo_problem");
KZOO_ABI_ASSERT(sizeof(kzoo_operand) == 64, "kzoo_operand");
KZOO_ABI_ASSERT(sizeof(kzoo_stage) == 24, "kzoo_stage");
KZOO_ABI_ASSERT(offsetof(kzoo_device, shared_bytes_per_block) == 24, "kzoo_device");
KZOO_ABI_ASSERT(sizeof(kzoo_device) == 40, "kzoo_device");
KZOO_ABI_ASSERT(offsetof(kzoo_arguments, stream) == 40, "kzoo_arguments");
KZOO_ABI_ASSERT(offsetof(kzoo_arguments, operands) == 56, "kzoo_arguments");
KZOO_ABI_ASSERT(sizeof(kzoo_arguments) == 64, "kzoo_arguments");
KZOO_ABI_ASSERT(offsetof(kzoo_launch, registers) == 48, "kzoo_launch");
KZOO_ABI_ASSERT(sizeof(kzoo_launch) == 64, "kzoo_launch");
KZOO_ABI_ASSERT(sizeof(kzoo_launch_list) == 32, "kzoo_launch_list");
KZOO_ABI_ASSERT(offsetof(kzoo_variant, signature_count) == 32, "kzoo_variant");
KZOO_ABI_ASSERT(offsetof(kzoo_variant, supports) == 48, "kzoo_variant");
KZOO_ABI_ASSERT(offsetof(kzoo_variant, nondeterministic) == 88, "kzoo_variant");
KZOO_ABI_ASSERT(offsetof(kzoo_variant, multiple_m) == 96, "kzoo_variant");
KZOO_ABI_ASSERT(sizeof(kzoo_variant) == 112, "kzoo_variant");
KZOO_ABI_ASSERT(offsetof(kzoo_plugin, variants) == 40, "kzoo_plugin");
KZOO_ABI_ASSERT(sizeof(kzoo_plugin) == 64, "kzoo_plugin");

#ifdef __cplusplus
}
#endif

#endif
