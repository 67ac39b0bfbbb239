/* The interface of an analysed build, which reports every memory access of a plugin's kernels,
 * thread by thread. It is a cpu build with the compiler's call-outs before each access and in each
 * basic block (docs/xray.md). It exports KZOO_XRAY_SYMBOL as well as the plugin. */
#ifndef KZOO_XRAY_H
#define KZOO_XRAY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The major version is in the name, as with kzoo_plugin_v1. */
#define KZOO_XRAY_SYMBOL kzoo_xray_v1

enum {
  KZOO_XRAY_BLOCK = 0, /* a basic block begins */
  KZOO_XRAY_READ = 1,  /* `bytes` at `address`; 0 bytes: a copy that reads nothing */
  KZOO_XRAY_WRITE = 2,
  KZOO_XRAY_ATOMIC = 3, /* reads and writes */
  KZOO_XRAY_CALL = 4,   /* a function begins; `address`: where it returns to */
  KZOO_XRAY_RETURN = 5,
  KZOO_XRAY_SYNC = 6,   /* waits for lanes of its warp */
  KZOO_XRAY_FENCE = 7,  /* __threadfence() and similar */
  KZOO_XRAY_BOUNDS = 8, /* `address` is an index outside its array */
  /* sm_90. `address`: bytes, and from bit 32 on sectors or wavefronts; of a warp's first lane */
  KZOO_XRAY_TMA_LOAD = 9,
  KZOO_XRAY_TMA_STORE = 10,
  KZOO_XRAY_WGMMA = 11 /* a quarter of the operands in shared memory that its warpgroup reads */
};

enum {
  KZOO_XRAY_ASYNC = 1,      /* belongs to an asynchronous copy */
  KZOO_XRAY_WHOLE_WARP = 2, /* belongs to a warp-wide operation, which one lane carries out */
  KZOO_XRAY_ROW = 4 /* a lane's row of ldmatrix or stmatrix, to be counted; with the flag before:
                       belongs to such an operation, whose rows are counted */
};

typedef struct kzoo_xray_event {
  uint64_t address;
  uint32_t pc; /* return address of the call-out, in bytes from the library's beginning */
  uint8_t kind, bytes, flags, reserved;
} kzoo_xray_event;

typedef struct kzoo_xray_range {
  uint64_t begin, end;
} kzoo_xray_range;

typedef struct kzoo_xray_launch {
  uint32_t struct_size;
  uint32_t grid[3], block[3];
  uint64_t dynamic_shared; /* bytes */
  const char* kernel;
} kzoo_xray_launch;

typedef struct kzoo_xray_lane {
  const kzoo_xray_event *begin, *end;
} kzoo_xray_lane;

/* A warp's work up to, between or after its block's barriers. */
typedef struct kzoo_xray_interval {
  uint32_t struct_size;
  uint32_t lane_count; /* fewer than 32 in the last warp of some blocks */
  uint64_t block;      /* x fastest */
  uint32_t warp;
  uint32_t number; /* barriers passed before */
  const kzoo_xray_lane* lanes;
  uint32_t at_barrier; /* 1: ends at a barrier; 0: at the warp's end, or an error */
  uint32_t unordered;  /* 1: the block has other barriers, too, by which warps may be ordered */
} kzoo_xray_interval;

/* The runner's functions; none may throw. `self` is the runner's; `worker` is the result of
 * begin_worker. Functions with a worker run on its OS thread; several workers run concurrently. */
typedef struct kzoo_xray_sink {
  uint32_t struct_size;
  void* self;
  void (*begin_launch)(void* self, const kzoo_xray_launch* launch); /* [one thread at a time] */
  int (*wants_block)(void* self, uint64_t block); /* [any thread] 0: leave it out */
  /* [any thread] Once per OS thread. `static_shared`: the location of its __shared__ arrays. */
  void* (*begin_worker)(void* self, const kzoo_xray_range* static_shared);
  void (*begin_block)(void* worker, uint64_t block, const kzoo_xray_range* dynamic_shared);
  void (*interval)(void* worker, const kzoo_xray_interval* what);
  void (*end_block)(void* worker);
} kzoo_xray_sink;

typedef struct kzoo_xray {
  uint32_t struct_size;
  /* Records the module's launches from now on. The sink must outlive them. Call it once, before
   * the first launch. */
  void (*attach)(const kzoo_xray_sink* sink);
} kzoo_xray;

#ifdef __cplusplus
}
#endif

#endif
