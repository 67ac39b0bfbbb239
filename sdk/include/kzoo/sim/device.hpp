// The only functions by which simulated device code accesses the simulator. All other device
// functions under sim/ (shuffles, votes, atomics, half, ...) use them, or no simulator state.
//
// Threads of a block are fibers on one OS thread and switch only inside these functions. Between
// two calls, a block's other threads do not interrupt a thread. Blocks run concurrently on several
// OS threads.
#pragma once

#include <cstdint>
#include <source_location>

#include <kzoo/sim/vector_types.hpp>

namespace kzoo::sim {

// The state of a simulated thread that device code can see.
struct thread_view {
  uint3 thread_idx;
  uint3 block_idx;
  dim3 block_dim;
  dim3 grid_dim;
  unsigned linear;       // of threadIdx in its block, x fastest
  void* dynamic_shared;  // 1024-byte aligned; poisoned with 0xff bytes before each block
};

// The running simulated thread; null on an OS thread that runs none. Each module has its own, since
// each plugin links the simulator. Not initial-exec, which is faster but puts all thread-local
// variables of a module, including large __shared__ arrays, into the loader's small static block.
extern constinit thread_local const thread_view* current
    __attribute__((tls_model("local-dynamic"), visibility("hidden")));

inline const thread_view& self() { return *current; }

enum class block_op : unsigned char { barrier, count, conjunction, disjunction };

// Waits until all threads of the block are at the same barrier: same operation, same source line.
// Returns the number of threads with a nonzero predicate.
unsigned block_barrier(block_op op, bool predicate, std::source_location where);

enum class warp_op : unsigned char {
  sync,      // result 0
  exchange,  // the value of lane `source`; all ones if that lane is not in the mask
  ballot,    // the lanes in the mask with a nonzero value
  match,     // the lanes in the mask with the caller's value
  add,
  min_signed,
  max_signed,
  min_unsigned,
  max_unsigned,
  bit_and,
  bit_or,
  bit_xor,  // of 32 bits
  together  // see warp_together
};

// Waits until every lane in `mask` has called with the same operation and mask; returns each lane's
// result. Lanes missing from a last warp of fewer than 32 threads are removed from the mask. Calls
// with disjoint masks of one warp may overlap.
std::uint64_t warp_collective(warp_op op, unsigned mask, std::uint64_t value, unsigned source,
                              std::source_location where);

// An operation of a whole warp.
struct warp_work {
  const char* name;                  // for messages: "wmma::mma_sync"
  void (*run)(void* const lanes[]);  // the 32 lanes' arguments, by lane
};

// Waits until all 32 lanes of the warp have called this with the same work at the same source line.
// The last lane then runs it, and all continue. A warp with fewer lanes is an error.
void warp_together(const warp_work& work, void* mine, std::source_location where);

// Lets other threads of the block, or other OS threads, run: for code that spins.
void yield();

// The host's steady clock.
long long nanoseconds();

// Ends the launch: kzoo::launch throws kzoo::error(KZOO_ERROR, text). Does not return or unwind, so
// it works under noexcept.
[[noreturn]] void fail(const char* text);

}  // namespace kzoo::sim

#define threadIdx (::kzoo::sim::self().thread_idx)
#define blockIdx (::kzoo::sim::self().block_idx)
#define blockDim (::kzoo::sim::self().block_dim)
#define gridDim (::kzoo::sim::self().grid_dim)
inline constexpr int warpSize = 32;
