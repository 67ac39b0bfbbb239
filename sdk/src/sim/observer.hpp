// The interface by which an analysed build (../xray/) observes a launch; null in other builds.
#pragma once

#include <cstdint>

#include <kzoo/sim/device.hpp>
#include <kzoo/sim/grid.hpp>

namespace kzoo::sim {

struct thread;

// Functions other than the first two are called on the OS thread that runs the block.
class observer {
 public:
  virtual void begin_launch(const grid_request& request) = 0;
  virtual bool wants_block(std::uint64_t block) = 0;
  // `threads` is an array of `count`, in order.
  virtual void begin_block(std::uint64_t block, const grid_request& request, thread* threads,
                           unsigned count) = 0;
  virtual void begin_thread(thread& t) = 0;
  virtual void reach_barrier(thread& t) = 0;
  // A warp operation: before and after the thread has met the others.
  virtual void meet(thread& t) = 0;
  // The thread begins or ends an operation of its whole warp.
  virtual void act_for_warp(thread& t, bool begins) = 0;
  virtual void end_thread(thread& t) = 0;
  // After an error, too.
  virtual void end_block() = 0;

 protected:
  ~observer() = default;
};

// Null unless set before the first launch.
extern observer* watching;

}  // namespace kzoo::sim
