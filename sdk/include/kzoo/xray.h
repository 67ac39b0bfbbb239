/* What an analysed build of a plugin tells a runner of its kernels: every access to memory, thread
 * by thread. Such a build is a cpu build with the compiler's own call-outs before each access and
 * in each basic block (docs/xray.md), which the SDK answers. It exports KZOO_XRAY_SYMBOL beside the
 * plugin. */
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
  KZOO_XRAY_SYNC = 6,  /* waits for lanes of its warp */
  KZOO_XRAY_FENCE = 7, /* __threadfence() and its kin */
  KZOO_XRAY_BOUNDS = 8 /* `address` is an index outside its array */
};

enum {
  KZOO_XRAY_ASYNC = 1,     /* of an asynchronous copy */
  KZOO_XRAY_WHOLE_WARP = 2 /* of an operation of all lanes, which one of them carries out */
};

typedef struct kzoo_xray_event {
  uint64_t address;
  uint32_t pc; /* where in the library, in bytes from its beginning, the call-out returns to */
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

/* What one warp did between two barriers of its block, or since its first or until its last. */
typedef struct kzoo_xray_interval {
  uint32_t struct_size;
  uint32_t lane_count; /* fewer than 32 in the last warp of some blocks */
  uint64_t block;      /* x fastest */
  uint32_t warp;
  uint32_t number; /* barriers that it has passed before */
  const kzoo_xray_lane* lanes;
  uint32_t at_barrier; /* 1: a barrier ends it; 0: the warp's end, or an error's */
} kzoo_xray_interval;

/* The runner's functions. `self` is theirs; `worker` is what `begin_worker` returned. Those with a
 * worker are called on the OS thread of their worker, several at a time. None may throw. */
typedef struct kzoo_xray_sink {
  uint32_t struct_size;
  void* self;
  void (*begin_launch)(void* self, const kzoo_xray_launch* launch); /* [one thread at a time] */
  int (*wants_block)(void* self, uint64_t block); /* [any thread] 0: leave it out */
  /* [any thread] Once for each OS thread. `static_shared`: where its __shared__ arrays are. */
  void* (*begin_worker)(void* self, const kzoo_xray_range* static_shared);
  void (*begin_block)(void* worker, uint64_t block, const kzoo_xray_range* dynamic_shared);
  void (*interval)(void* worker, const kzoo_xray_interval* what);
  void (*end_block)(void* worker);
} kzoo_xray_sink;

typedef struct kzoo_xray {
  uint32_t struct_size;
  /* From now on the module's launches are recorded. The sink must outlive them. Call it once,
   * before the first launch. */
  void (*attach)(const kzoo_xray_sink* sink);
} kzoo_xray;

#ifdef __cplusplus
}
#endif

#endif
