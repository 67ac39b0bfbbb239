// Runs the threads of one block as fibers on one OS thread.
//
// A fiber is a stack that runs one simulated thread after the other. While no thread waits, one
// fiber runs the whole block without a switch. A waiting thread keeps its fiber. Another fiber then
// continues with a ready thread, or starts the next thread. If neither exists, the waiting threads
// can never continue.
#pragma once

#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include <kzoo/sim/device.hpp>
#include <kzoo/sim/grid.hpp>

#include "context.hpp"
#include "faults.hpp"
#include "observer.hpp"
#include "stack_pool.hpp"
#include "static_shared.hpp"

namespace kzoo::sim {

class block_runner;
struct thread;

struct fiber : context {
  block_runner* owner = nullptr;
  unsigned number = 0;
  bool idle = false;  // runs no thread
};

enum class wait_kind : unsigned char { none, barrier, warp, exited };

struct lane_log;

struct thread : thread_view {
  lane_log* log = nullptr;  // the observer's
  block_runner* owner;
  fiber* on;     // the fiber it runs or waits on
  thread* next;  // in the list it is in
  wait_kind waits;
  block_op barrier;  // the operation it waits at, either of these two; `where`: its source line
  warp_op collective;
  const warp_work* work;  // for warp_op::together
  unsigned mask;
  unsigned source;      // of a shuffle: the lane
  std::uint64_t value;  // given to a warp operation, and its result afterwards
  std::source_location where;
};

class thread_list {
 public:
  bool empty() const { return head_ == nullptr; }
  void push(thread& t);
  thread* pop();
  void take_all(thread_list& other);

 private:
  thread* head_ = nullptr;
  thread* tail_ = nullptr;
};

// Lanes of a warp at the same operation and mask; for `together`, also the same source line.
struct warp_group {
  warp_op op;
  unsigned mask;
  unsigned arrived;
  const warp_work* work;
  std::source_location where;
};

struct warp_state {
  warp_group groups[32];  // no lane is in two of them
  unsigned count = 0;
};

class block_runner {
 public:
  block_runner();
  block_runner(const block_runner&) = delete;
  block_runner& operator=(const block_runner&) = delete;

  // Call it before a launch's first block. `request` must outlive the blocks.
  void prepare(const grid_request& request);

  // Runs block `number` of the grid. Null if all threads ran to their ends.
  std::exception_ptr run(uint3 block_idx, std::uint64_t number);

  // Whether the address is on the stack of a thread of this block.
  bool is_on_stack(std::uintptr_t address) const { return stacks_.holds(address); }
  std::string where_text() const;  // "kernel k, block (0,0,0)"

  // The following functions are called on fibers, through device.hpp.
  unsigned barrier(thread& t, block_op op, bool predicate, std::source_location where);
  std::uint64_t collective(thread& t, warp_op op, unsigned mask, std::uint64_t value,
                           unsigned source, std::source_location where);
  void together(thread& t, const warp_work& work, void* mine, std::source_location where);
  void yield(thread& t);
  [[noreturn]] void fail(thread& t, const char* text);

 private:
  static void fiber_main(fcontext::transfer_t transfer);
  void run_threads(fiber& on);
  void start_next(fiber& on);
  void suspend(thread& t);
  void resume_another(thread& t, context& target);
  [[noreturn]] void give_up(fiber& on);
  void meet(thread& t, const warp_group& as);
  void wait_for(thread& t, const warp_group& as);
  void complete(thread& t, unsigned warp, const warp_group& group);
  void poison_shared();
  void abandon_fibers();
  fiber& idle_fiber();

  const grid_request* request_ = nullptr;
  uint3 block_idx_{};
  std::vector<thread> threads_;
  std::vector<warp_state> warps_;
  std::size_t next_ = 0;  // thread to start
  std::size_t exited_ = 0;
  thread_list ready_;

  struct {
    thread_list waiting;
    std::size_t arrived = 0;
    block_op op{};
    std::source_location where;
    unsigned votes = 0;
    unsigned result = 0;  // of the last completed barrier
  } barrier_;

  std::exception_ptr failure_;
  context native_;  // the OS thread's own stack
  fault_stack fault_stack_;
  stack_pool stacks_;
  std::deque<fiber> fibers_;  // stable addresses
  std::vector<fiber*> idle_;

  struct free_aligned {
    void operator()(unsigned char* p) const;
  };
  std::unique_ptr<unsigned char, free_aligned> shared_;
  static_shared static_shared_;
};

inline bool same_place(const std::source_location& a, const std::source_location& b) {
  return a.line() == b.line() && a.column() == b.column();
}

// "divergent barrier: kernel k, block (0,0,0): 32 of 64 threads wait at __syncthreads (k.cu:7):
// (0,0,0) ... (31,0,0); 32 have exited: (32,0,0) ... (63,0,0)"
std::string describe_divergence(const std::vector<thread>& threads, const std::string& place);

// The function's name as its author wrote it, or "at <module>+<offset>" from a stripped file.
std::string symbol_name(const void* function);

}  // namespace kzoo::sim
