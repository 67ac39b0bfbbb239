// Runs the threads of one block as fibers on one OS thread, or the threads of a cluster's blocks.
//
// A fiber is a stack that runs one simulated thread after the other. While no thread waits, one
// fiber runs the whole block without a switch. A waiting thread keeps its fiber. Another fiber then
// continues with a ready thread, or starts the next thread. If neither exists, an asynchronous copy
// (sm90/) arrives. Without copies, the waiting threads can never continue.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include <kzoo/sim/device.hpp>
#include <kzoo/sim/grid.hpp>

#include "context.hpp"
#include "faults.hpp"
#include "in_flight.hpp"
#include "observer.hpp"
#include "schedule.hpp"
#include "sm90/state.hpp"
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

enum class wait_kind : unsigned char {
  none,
  barrier,
  warp,
  mbarrier,
  named_barrier,
  warpgroup,
  registers,
  cluster,
  exited
};

struct lane_log;

// A cp.async that the thread has not waited for.
struct async_copy {
  void* to;
  const void* from;  // null: zeros
  std::source_location where;
  unsigned bytes;
  sm90::shared_offset at;  // `to`, if it is followed; else kNowhere
};

struct thread : thread_view {
  lane_log* log = nullptr;  // the observer's
  block_runner* owner;
  cta* in;       // its block
  fiber* on;     // the fiber it runs or waits on
  thread* next;  // in the list it is in
  wait_kind waits;
  block_op barrier;  // the operation it waits at, either of these two; `where`: its source line
  warp_op collective;
  const warp_work* work;  // for warp_op::together
  unsigned mask;
  unsigned source;      // a shuffle's lane
  std::uint64_t value;  // given to a warp operation, and its result afterwards
  std::source_location where;
  in_flight<async_copy> copies;
  sm90::thread_state sm90;
};

class thread_list {
 public:
  bool empty() const { return head_ == nullptr; }
  void push(thread& t);
  thread* pop();
  // The thread with the highest rank, which stays in the list; null if it is empty.
  template <class Rank>
  thread* best(const Rank& rank) const {
    thread* found = head_;
    for (thread* t = head_; t != nullptr; t = t->next) {
      if (rank(*t) > rank(*found)) found = t;
    }
    return found;
  }
  void remove(thread& t);
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

// A block (cooperative thread array).
struct cta {
  unsigned rank = 0;  // in its cluster
  uint3 index{};
  std::size_t exited = 0;
  std::span<thread> threads;
  std::vector<warp_state> warps;
  struct {
    thread_list waiting;
    std::size_t arrived = 0;
    block_op op{};
    std::source_location where;
    unsigned votes = 0;
    unsigned result = 0;  // the last completed barrier's
  } barrier;
  unsigned char* dynamic_shared = nullptr;
  std::vector<unsigned char>
      statics;  // static shared memory, while another block of its cluster runs
  sm90::block_state sm90;
};

class block_runner {
 public:
  block_runner();
  block_runner(const block_runner&) = delete;
  block_runner& operator=(const block_runner&) = delete;

  // Call it before a launch's first block. `request` must outlive the blocks. `seed`: see schedule.
  void prepare(const grid_request& request, std::uint64_t seed);

  // Runs cluster `number` of the grid, whose first block is `block_idx`. Null if all threads ran to
  // their ends.
  std::exception_ptr run(uint3 block_idx, std::uint64_t number);

  // Whether the address is on the stack of a thread of this block.
  bool is_on_stack(std::uintptr_t address) const { return stacks_.holds(address); }
  std::string where_text() const;  // "kernel k, block (0,0,0)"

  std::shared_ptr<void> observed;  // the observer's own, of this OS thread

  std::span<cta> ctas() { return ctas_; }
  sm90::cluster_state& sm90() { return sm90_; }
  // Copies `bytes` for an asynchronous copy that thread `by` has started at `where`, which a fault
  // then names.
  void copy(const thread& by, const std::source_location& where, void* to, const void* from,
            std::size_t bytes) {
    copying_ = {&by, where};
    std::atomic_signal_fence(std::memory_order_seq_cst);  // for the handler of faults
    if (bytes == 16) {                                    // the size of most copies: no call
      std::memcpy(to, from, 16);
    } else {
      std::memcpy(to, from, bytes);
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
    copying_.by = nullptr;
  }
  struct copying {
    const thread* by = nullptr;  // null: nothing is copied
    std::source_location where;
  };
  const copying& copies_now() const { return copying_; }
  // Where `shared` is in the running block's shared memory; empty if it is elsewhere.
  std::optional<sm90::shared_offset> offset_of(const cta& in, const void* shared,
                                               std::size_t bytes) const;
  unsigned char* memory(cta& in, sm90::shared_offset at);

  // For functions on fibers, and for copies that arrive.
  void suspend(thread& t);
  void make_ready(thread& t) { ready_.push(t); }
  bool has_failed() const { return failure_ != nullptr; }
  void set_failure(const std::string& text);
  // Ends the launch. `text` returns the message: no string may be left on a stack that is not
  // unwound.
  template <class Text>
  [[noreturn]] void fail_with(thread& t, const Text& text) {
    [&]() noexcept { set_failure(text()); }();
    give_up(*t.on);
  }
  void give_up_if_failed(thread& t) {
    if (has_failed()) give_up(*t.on);
  }

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
  void resume_another(thread& t, context& target);
  [[noreturn]] void give_up(fiber& on);
  void meet(thread& t, const warp_group& as);
  void wait_for(thread& t, const warp_group& as);
  void complete(thread& t, unsigned warp, const warp_group& group);
  void prepare_block(cta& in, unsigned rank);
  void enter(cta& in);
  thread* next_ready();
  thread* next_by_schedule();
  void poison_shared();
  void abandon_fibers();
  fiber& idle_fiber();

  const grid_request* request_ = nullptr;
  uint3 block_idx_{};
  std::vector<thread> threads_;
  std::vector<cta> all_ctas_;  // as many as any launch had
  std::span<cta> ctas_;        // the blocks of this launch's clusters
  cta* entered_ = nullptr;     // the block whose static shared memory is in place
  sm90::cluster_state sm90_;
  copying copying_;
  unsigned yields_ = 0;  // so far
  std::uint64_t seed_ = 0;
  schedule schedule_;
  std::size_t next_ = 0;  // thread to start
  std::size_t exited_ = 0;
  thread_list ready_;

  std::exception_ptr failure_;
  context native_;  // the OS thread's own stack
  fault_stack fault_stack_;
  stack_pool stacks_;
  std::deque<fiber> fibers_;  // stable addresses
  std::vector<fiber*> idle_;

  struct free_aligned {
    void operator()(unsigned char* p) const;
  };
  std::vector<std::unique_ptr<unsigned char, free_aligned>> shared_;  // a block's each
  static_shared static_shared_;
};

inline thread& running() { return static_cast<thread&>(const_cast<thread_view&>(*current)); }

inline bool same_place(const std::source_location& a, const std::source_location& b) {
  return a.line() == b.line() && a.column() == b.column();
}

// "divergent barrier: kernel k, block (0,0,0): 32 of 64 threads wait at __syncthreads (k.cu:7):
// (0,0,0) ... (31,0,0); 32 have exited: (32,0,0) ... (63,0,0)"
// Names blocks too, for the threads of a cluster.
std::string describe_divergence(const std::vector<thread>& threads, const std::string& place);

// Another OS thread begins a block, if there is one left: a block may be waiting for it.
void begin_another_block();

// Drops what a thread that ends has not waited for.
void drop_copies(thread& t);

// The function's name as its author wrote it, or "at <module>+<offset>" from a stripped file.
std::string symbol_name(const void* function);

}  // namespace kzoo::sim
