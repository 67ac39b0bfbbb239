// The interface by which an analysed build (../xray/) observes a launch; null in other builds.
#pragma once

#include <cstdint>
#include <span>

#include <kzoo/sim/device.hpp>
#include <kzoo/sim/grid.hpp>

namespace kzoo::sim {

struct thread;

// Units that read or write memory besides the threads (sm_90).
enum class async_access : unsigned char { tma_load, tma_store, wgmma };
struct async_traffic {
  std::uint32_t bytes = 0, passes = 0;  // sectors of global memory, or wavefronts
};

// Functions other than the first two are called on the OS thread that runs the block.
class observer {
 public:
  virtual void begin_launch(const grid_request& request) = 0;
  virtual bool wants_block(std::uint64_t block) = 0;
  // `threads`: all threads of the block, in order. Blocks of a cluster begin and end together.
  virtual void begin_block(std::uint64_t block, const grid_request& request,
                           std::span<thread> threads) = 0;
  virtual void begin_thread(thread& t) = 0;
  virtual void reach_barrier(thread& t) = 0;
  // The thread's block has a barrier other than __syncthreads().
  virtual void has_other_barrier(thread& t) = 0;
  // A warp operation: before and after the thread has met the others.
  virtual void meet(thread& t) = 0;
  // The thread begins or ends an operation of its whole warp.
  virtual void act_for_warp(thread& t, bool begins) = 0;
  // The thread reaches an instruction, which returns to `from`.
  virtual void start_async(async_access what, const async_traffic& moved, const void* from) = 0;
  virtual void end_thread(thread& t) = 0;
  // Also called after an error.
  virtual void end_block(std::span<thread> threads) = 0;

 protected:
  ~observer() = default;
};

// Null unless set before the first launch.
extern observer* watching;

}  // namespace kzoo::sim
