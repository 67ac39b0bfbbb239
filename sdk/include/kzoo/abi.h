/* kernel-zoo plugin ABI, major version 1.
 *
 * A plugin is a shared library that exports one constant data symbol, `kzoo_plugin_v1`, of type
 * kzoo_plugin, and nothing else. The symbol's name contains the major version: a runner of version
 * 1 does not find a plugin of version 2.
 *
 * Rules that keep old plugins and new runners working together:
 *  - plain C, fixed-width types, no CUDA, no C++ library type;
 *  - a struct that may grow starts with `struct_size`, which its writer sets. Fields are only
 *    appended; zero in an appended field means "as before". kzoo_launch may grow too: its size is
 *    the list's `stride`. kzoo_text and kzoo_signature never change;
 *  - a plugin answers KZOO_UNSUPPORTED to a problem with non-zero bytes past its own version of the
 *    struct (the C++ header does this).
 *
 * Ownership: the caller owns every pointer it passes; a plugin owns only the instance it returns
 * from `create`, until `destroy`. Each side frees only its own memory. No exception crosses this
 * boundary. Errors are a status and a sentence in the caller's buffer.
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

#define KZOO_ABI_MAJOR 1 /* plugins of another major version are not found */
#define KZOO_ABI_MINOR 3 /* grows with each appended field */

/* The outcome of a call. Fixed width, unlike an enum. */
typedef uint32_t kzoo_status;
#define KZOO_OK 0u            /* success */
#define KZOO_UNSUPPORTED 1u   /* the variant rejects the problem; the text says why */
#define KZOO_UNAVAILABLE 2u   /* cannot work on this machine (library, driver, device missing) */
#define KZOO_ERROR 3u         /* something failed that should have worked */
#define KZOO_LAUNCH_FAILED 4u /* the kernel never started */

/* Element types in memory. */
typedef uint32_t kzoo_type;
#define KZOO_F32 1u  /* IEEE fp32 */
#define KZOO_F16 2u  /* IEEE fp16 */
#define KZOO_BF16 3u /* bfloat16 */
#define KZOO_I32 4u  /* signed 32-bit integer */
#define KZOO_F64 5u  /* IEEE fp64 */
/* Signed 8-bit integer. The 8-bit types are never C's. */
#define KZOO_I8 6u
#define KZOO_E4M3 7u /* fp8: 4 exponent bits, 3 fraction bits, no infinity */
#define KZOO_E5M2 8u /* fp8: 5 exponent bits, 2 fraction bits */
/* Only for B: int4, -8 to 7, two in a byte. Elements at even indices i * ld + j of B are in the low
 * four bits. ld and strides count elements and are even. */
#define KZOO_I4 9u

/* The precision of products and accumulators. Results are judged by the declared precision. */
typedef uint32_t kzoo_precision;
#define KZOO_COMPUTE_FP32 1u  /* fp32 products, fp32 accumulators */
#define KZOO_COMPUTE_TF32 2u  /* inputs rounded to TF32 (10 mantissa bits), fp32 accumulators */
#define KZOO_COMPUTE_FP16 3u  /* fp16 inputs, fp32 accumulators */
#define KZOO_COMPUTE_BF16 4u  /* bf16 inputs, fp32 accumulators */
#define KZOO_COMPUTE_INT32 5u /* 32-bit integers, wrapping */
/* fp32's accuracy, by splitting inputs into narrower parts for tensor cores */
#define KZOO_COMPUTE_FP32_SPLIT 6u
#define KZOO_COMPUTE_FP64 7u      /* fp64 products, fp64 accumulators */
#define KZOO_COMPUTE_FP16_SUMS 8u /* inputs rounded to fp16, fp16 accumulators */
/* fp8 inputs; sums of up to 256 products with 14 bits, added in fp32 */
#define KZOO_COMPUTE_FP8 9u
/* fp32's accuracy relative to the largest elements of A and B: any element's error may reach
 * the error of theirs. For Strassen's algorithm, or parts with one exponent per row */
#define KZOO_COMPUTE_FP32_NORMWISE 10u

/* The kind of device. */
typedef uint32_t kzoo_device_kind;
#define KZOO_CPU 1u  /* the host */
#define KZOO_CUDA 2u /* an NVIDIA GPU */

/* The order of a matrix in memory. */
typedef uint32_t kzoo_layout;
#define KZOO_ROW_MAJOR 0u    /* element (i, j) at i * ld + j */
#define KZOO_COLUMN_MAJOR 1u /* element (i, j) at j * ld + i: transposed in memory, BLAS's 't' */

/* The caller's buffer for a sentence. A plugin writes at most `capacity` bytes, including the
 * closing NUL. `data` may be NULL if capacity is 0. */
typedef struct kzoo_text {
  char* data;        /* the caller's, valid during the call */
  uint64_t capacity; /* bytes */
} kzoo_text;

/* An operand besides A, B and C: read-only, row-major, element (i, j) at i * ld + j. A vector of N
 * has one row, a vector of M one column. */
typedef struct kzoo_operand {
  char name[24];          /* "bias", closed by NUL */
  kzoo_type type;         /* of its elements */
  uint32_t reserved;      /* 0 */
  int64_t rows, cols, ld; /* elements */
  int64_t stride;         /* elements between GEMMs of a batch, or groups; 0: one for all */
} kzoo_operand;
#define KZOO_MOST_OPERANDS 8 /* in one problem */

/* The epilogue's steps for each element x of alpha * A * B + beta * C before it is stored. An
 * operand with one row applies to all rows of C, an operand with one column to all columns. */
typedef uint32_t kzoo_stage_kind;
#define KZOO_STAGE_ADD 1u       /* x + operand */
#define KZOO_STAGE_MULTIPLY 2u  /* x * operand */
#define KZOO_STAGE_RELU 3u      /* max(x, 0) */
#define KZOO_STAGE_GELU 4u      /* x / 2 (1 + erf(x / sqrt(2))) */
#define KZOO_STAGE_GELU_TANH 5u /* x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) */
#define KZOO_STAGE_SILU 6u      /* x / (1 + exp(-x)) */
#define KZOO_STAGE_CLAMP 7u     /* min(max(x, low), high) */
/* One stage of an epilogue. */
typedef struct kzoo_stage {
  kzoo_stage_kind kind; /* KZOO_STAGE_ADD, … */
  uint32_t operand;     /* its index; only for ADD and MULTIPLY */
  double low, high;     /* only for CLAMP */
} kzoo_stage;
#define KZOO_MOST_STAGES 8 /* in one epilogue */

/* Block scales: one scale for `extent` rows of A (columns of B) by `depth` elements of K; 0 and 0:
 * no scales. The scale for row (column) i at element k of K is element (i / extent, k / depth) of
 * the operand. If the extent is 1, it is element (k / depth, i): scales of neighbouring rows
 * (columns) are neighbours in memory. The operand's rows start at multiples of 16 bytes. Each A and
 * B of a batch, and the B of each group, has its own scales, a stride after the previous ones. */
typedef struct kzoo_scale_block {
  uint32_t extent, depth; /* rows of A (columns of B); elements of K */
} kzoo_scale_block;

/* C = alpha * A * B + beta * C. A is m x k, B is k x n, C is m x n in every layout: a layout only
 * changes where an element is. With beta = 0, C is not read. Leading dimensions count elements. In
 * row-major matrices lda >= k, ldb >= n, ldc >= n; in column-major ones lda >= m, ldb >= k,
 * ldc >= m. The runner's C is row-major. Integer types take integer alpha and beta. */
typedef struct kzoo_problem {
  uint64_t struct_size;                     /* sizeof(kzoo_problem) of its writer */
  int64_t m, n, k;                          /* each >= 1 */
  int64_t lda, ldb, ldc;                    /* leading dimensions, in elements */
  kzoo_type type_a, type_b, type_c;         /* of the elements */
  kzoo_layout layout_a, layout_b, layout_c; /* orders in memory */
  double alpha, beta;                       /* by value */
  uint64_t alignment; /* bytes: A, B, C and operands each start at a multiple of it */

  /* Factors of A's and B's elements of 8-bit floating-point types, within the range of fp32. 0: 1.
   * A kernel that wants them in device memory copies them in `create`. */
  double scale_a, scale_b;

  /* A batch: `batch` GEMMs of one shape, with the same alpha and beta; 0 and 1: one GEMM. The A, B
   * and C of GEMM i start i strides after the first; strides count elements. The stride of A or B
   * may be 0: all GEMMs share it. Otherwise matrices never overlap. */
  int64_t batch, stride_a, stride_b, stride_c;

  /* Minor version 1. The numbers of operands and of stages. */
  uint32_t operand_count, stage_count;
  /* Operands besides A, B and C: first scales and offsets, then the epilogue's, in its order. */
  kzoo_operand operands[KZOO_MOST_OPERANDS];
  /* The epilogue's stages, in the order of application. */
  kzoo_stage epilogue[KZOO_MOST_STAGES];

  /* Minor version 2. Block scales: each element of A is multiplied by an element of the operand
   * "scale_a", each element of B by "scale_b", both f32, before products are summed. */
  kzoo_scale_block scale_block_a, scale_block_b;

  /* Grouped GEMM: each group of rows of A and C has its own B. Row i of C is row i of A times the B
   * of group g with offsets[g] <= i < offsets[g + 1]. The operand "offsets" is i32, one row of
   * groups + 1 columns, from 0 to m; a group may be empty. The B of group g starts g strides
   * (stride_b) after the first. 0: no groups. A problem with groups is no batch. */
  int64_t groups;
} kzoo_problem;

/* The device that a problem runs on. On the CPU, all but `kind`,
 * `multiprocessors` and `threads` are 0. */
typedef struct kzoo_device {
  uint64_t struct_size;            /* sizeof(kzoo_device) of its writer */
  kzoo_device_kind kind;           /* KZOO_CPU or KZOO_CUDA */
  int32_t ordinal;                 /* CUDA: number of the GPU */
  uint32_t compute_capability;     /* 10 * major + minor: 90 for sm_90; 0 on the CPU */
  uint32_t multiprocessors;        /* number of SMs; on the CPU, `threads` */
  uint64_t shared_bytes_per_block; /* the opt-in maximum */
  uint32_t threads;                /* CPU: hardware threads */
  uint32_t reserved;               /* 0 */
} kzoo_device;

/* A kernel launch: its shape and its resources on an SM. */
typedef struct kzoo_launch {
  uint32_t grid[3], block[3]; /* x, y, z: blocks; threads */
  uint64_t dynamic_shared;    /* bytes per block */
  /* CUDA only, 0 on the CPU: */
  uint64_t static_shared;  /* bytes per block */
  uint64_t local_bytes;    /* per thread: spills and arrays outside registers */
  uint32_t registers;      /* per thread */
  uint32_t resident_warps; /* on one SM, as registers and shared memory allow */
  uint32_t most_warps;     /* maximum per SM; occupancy = resident_warps / most_warps */
  uint32_t reserved;       /* 0 */
  /* Minor version 3. The kernel's symbol, which may be mangled; NULL: unknown. The plugin's, valid
   * while its library is loaded. */
  const char* kernel;
} kzoo_launch;

/* The caller's list, to which `run` adds its launches, in order, while there is room. */
typedef struct kzoo_launch_list {
  uint64_t struct_size;      /* sizeof(kzoo_launch_list) of its writer */
  kzoo_launch* launches;     /* the first of `capacity`, `stride` bytes apart; the caller's */
  uint32_t capacity, stride; /* entries; bytes */
  uint32_t count;            /* entries that `run` has added */
  uint32_t reserved;         /* 0 */
} kzoo_launch_list;

/* The data of one call: device pointers on CUDA, host pointers on the CPU. */
typedef struct kzoo_arguments {
  uint64_t struct_size; /* sizeof(kzoo_arguments) of its writer */
  const void* a;        /* read-only, like B */
  const void* b;        /* element (0, 0) of the first matrix, like A and C */
  void* c;              /* read only if beta is not 0 */
  void* workspace;      /* workspace_bytes() bytes, 256-byte aligned, contents undefined */
  void* stream; /* a cudaStream_t; NULL on the CPU, where `run` returns when the work is done */
  kzoo_launch_list* launches; /* NULL: not wanted. Timed runs may get a list too */
  /* Minor version 1. Pointers to element (0, 0) of the problem's operands, in their order: a list
   * on the host, valid during the call; NULL if there are none. Operands and C do not overlap. */
  const void* const* operands;
} kzoo_arguments;

/* Element types that a variant computes, and the precision. */
typedef struct kzoo_signature {
  kzoo_type type_a, type_b, type_c; /* of the elements */
  kzoo_precision compute;           /* KZOO_COMPUTE_FP32, … */
} kzoo_signature;

/* A configuration of a plugin. */
typedef struct kzoo_variant kzoo_variant;

/* A configuration of a plugin: "register_tiles:128x128x8_8x8". Every function gets the variant
 * first, so that one function can serve many variants. */
struct kzoo_variant {
  uint64_t struct_size;             /* sizeof(kzoo_variant) of its writer */
  const char* id;                   /* [A-Za-z0-9_.-]{1,100}, unique in the plugin */
  const char* summary;              /* one sentence */
  const kzoo_signature* signatures; /* the first of signature_count */
  uint32_t signature_count;         /* number of signatures */
  uint32_t compute_capability;      /* the least it needs, as in kzoo_device; 0: any */
  const void* context;              /* the plugin's own */

  /* [any-thread] Whether this variant computes the problem on the device. Pure: no device call,
   * nothing kept. KZOO_UNSUPPORTED comes with the reason. */
  kzoo_status (*supports)(const kzoo_variant*, const kzoo_problem*, const kzoo_device*,
                          kzoo_text* reason);
  /* [any-thread] Bytes of scratch memory for `run` in kzoo_arguments::workspace; UINT64_MAX:
   * unknown. */
  uint64_t (*workspace_bytes)(const kzoo_variant*, const kzoo_problem*, const kzoo_device*);
  /* [serial] Set-up once per problem: handles, tensor maps, function attributes. The
   * device is current. Sets *instance, which may stay NULL. */
  kzoo_status (*create)(const kzoo_variant*, const kzoo_problem*, const kzoo_device*,
                        void** instance, kzoo_text* error);
  /* [serial] Enqueues the GEMM on the stream and returns: no allocation, no synchronisation, no
   * printing. May be called repeatedly, with other pointers each time. */
  kzoo_status (*run)(const kzoo_variant*, void* instance, const kzoo_arguments*, kzoo_text* error);
  /* [serial] Frees the instance. The stream is idle. Never NULL, even if create does nothing. */
  void (*destroy)(const kzoo_variant*, void* instance);

  /* 1: two runs on the same data may differ in rounding, e.g. by the order of atomics. 0: they are
   * bit-identical. */
  uint32_t nondeterministic;
  uint32_t reserved; /* 0 */

  /* Sizes that it takes: multiples of these for M, N and K. 0: any. `supports` rejects all other
   * sizes. The runner's checks choose sizes by these. */
  uint32_t multiple_m, multiple_n, multiple_k;
  /* Each row (in column-major matrices, column) of A, B and C starts at a multiple of these bytes.
   * 0: any. */
  uint32_t row_alignment;
};

/* What a plugin exports. All pointers are valid as long as the library is loaded. */
typedef struct kzoo_plugin {
  uint64_t struct_size;         /* sizeof(kzoo_plugin) of its writer */
  uint32_t abi_minor;           /* KZOO_ABI_MINOR when it was built */
  kzoo_device_kind device;      /* where this library's kernels run */
  const char* id;               /* [A-Za-z0-9_.-]{1,100} */
  const char* summary;          /* one sentence */
  const char* build_info;       /* compiler, flags, architectures: free text */
  const kzoo_variant* variants; /* the first of variant_count, variant_stride bytes apart */
  uint32_t variant_count;       /* number of variants */
  uint32_t variant_stride;      /* bytes */
  uint32_t native;              /* CPU only: 1: native code; 0: simulated */
  uint32_t reserved;            /* 0 */
} kzoo_plugin;

/* The exported symbol, as a name and as text. */
#define KZOO_PLUGIN_SYMBOL kzoo_plugin_v1
#define KZOO_PLUGIN_SYMBOL_NAME "kzoo_plugin_v1" /* for dlsym */

/* The layout is the contract: a compiler with another layout must fail. */
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
KZOO_ABI_ASSERT(offsetof(kzoo_launch, kernel) == 64, "kzoo_launch");
KZOO_ABI_ASSERT(sizeof(kzoo_launch) == 72, "kzoo_launch");
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
