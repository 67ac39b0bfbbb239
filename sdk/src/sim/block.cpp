#include "block.hpp"

#include <chrono>
#include <cstring>
#include <new>

#include <pthread.h>

#include <kzoo/error.hpp>
#include <kzoo/launch_limits.hpp>

namespace kzoo::sim {

constinit thread_local const thread_view* current = nullptr;

namespace {

constexpr std::align_val_t kSharedAlignment{1024};

// Stacks begin at multiples of a page, so equal depths of all stacks share a cache set. Offsets of
// a few cache lines spread them over the sets: a fifth faster with 1024 threads.
constexpr std::size_t stack_colour(unsigned number) { return std::size_t{number % 31} * 128; }

}  // namespace

void thread_list::push(thread& t) {
  t.next = nullptr;
  (head_ == nullptr ? head_ : tail_->next) = &t;
  tail_ = &t;
}

thread* thread_list::pop() {
  thread* first = head_;
  if (first != nullptr) head_ = first->next;
  return first;
}

void thread_list::take_all(thread_list& other) {
  if (other.empty()) return;
  (head_ == nullptr ? head_ : tail_->next) = other.head_;
  tail_ = other.tail_;
  other = {};
}

void block_runner::free_aligned::operator()(unsigned char* p) const {
  ::operator delete(p, kSharedAlignment);
}

block_runner::block_runner() {
#if defined(__SANITIZE_ADDRESS__)
  pthread_attr_t attributes;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &native_.bottom, &native_.size);
  pthread_attr_destroy(&attributes);
#endif
}

void block_runner::prepare(const grid_request& request) {
  request_ = &request;
  const dim3 block = request.block;
  threads_.resize(static_cast<std::size_t>(block.x) * block.y * block.z);
  warps_.resize((threads_.size() + 31) / 32);
  if (shared_ == nullptr && request.dynamic_shared != 0) {
    shared_.reset(static_cast<unsigned char*>(
        ::operator new (launch_limits{}.shared_opt_in, kSharedAlignment)));
  }
  unsigned linear = 0;
  for (unsigned z = 0; z < block.z; ++z) {
    for (unsigned y = 0; y < block.y; ++y) {
      for (unsigned x = 0; x < block.x; ++x, ++linear) {
        thread& t = threads_[linear];
        static_cast<thread_view&>(t) = {{x, y, z}, {}, block, request.grid, linear, shared_.get()};
        t.owner = this;
      }
    }
  }
}

std::exception_ptr block_runner::run(uint3 block_idx, std::uint64_t number) {
  block_idx_ = block_idx;
  next_ = 0;
  exited_ = 0;
  poison_shared();
  if (watching != nullptr) {
    const auto count = static_cast<unsigned>(threads_.size());
    watching->begin_block(number, *request_, threads_.data(), count);
  }
  native_.switch_to(idle_fiber());
  current = nullptr;
  if (watching == nullptr) static_shared_.note_use(request_->kernel);
  if (watching != nullptr) watching->end_block();
  if (failure_ == nullptr && exited_ != threads_.size()) {
    failure_ =
        std::make_exception_ptr(error(KZOO_ERROR, describe_divergence(threads_, where_text())));
  }
  if (failure_ != nullptr) abandon_fibers();
  return std::exchange(failure_, nullptr);
}

// Uninitialised on a GPU; here a read before the first write always gives NaN or -1.
void block_runner::poison_shared() {
  // An observer detects reads before writes.
  if (watching == nullptr) static_shared_.poison(request_->kernel);
  const std::size_t bytes = request_->dynamic_shared;
  if (bytes == 0) return;
#if defined(__SANITIZE_ADDRESS__)
  const std::size_t whole = launch_limits{}.shared_opt_in;
  __asan_unpoison_memory_region(shared_.get(), whole);
  __asan_poison_memory_region(shared_.get() + bytes, whole - bytes);
#endif
  std::memset(shared_.get(), 0xff, bytes);
}

void block_runner::abandon_fibers() {
  idle_.clear();
  for (fiber& f : fibers_) {
    if (!f.idle) f.reset(stack_colour(f.number), &fiber_main);
    f.idle = true;
    idle_.push_back(&f);
  }
  for (warp_state& w : warps_) w.count = 0;
  ready_ = {};
  barrier_.waiting = {};
  barrier_.arrived = 0;
}

fiber& block_runner::idle_fiber() {
  if (idle_.empty()) {
    void* stack = stacks_.take();
    fiber& f = fibers_.emplace_back();
    f.bottom = stack;
    f.size = kStackBytes;
    f.owner = this;
    f.number = static_cast<unsigned>(fibers_.size() - 1);
    f.reset(stack_colour(f.number), &fiber_main);
    return f;
  }
  fiber& f = *idle_.back();
  idle_.pop_back();
  f.idle = false;
  return f;
}

void block_runner::fiber_main(fcontext::transfer_t transfer) {
  auto& self = static_cast<fiber&>(context::started(transfer));
  block_runner& owner = *self.owner;
  for (;;) {
    owner.run_threads(self);
    self.idle = true;
    owner.idle_.push_back(&self);
    thread* next = owner.ready_.pop();
    self.switch_to(next != nullptr ? static_cast<context&>(*next->on) : owner.native_);
  }
}

// Ready threads go first: kernels with only warp operations then need one fiber per lane.
void block_runner::run_threads(fiber& on) {
  do {
    start_next(on);
  } while (ready_.empty() && next_ < threads_.size());
}

void block_runner::start_next(fiber& on) {
  thread& t = threads_[next_++];
  t.on = &on;
  t.block_idx = block_idx_;
  t.waits = wait_kind::none;
  current = &t;
  if (watching != nullptr) watching->begin_thread(t);
  try {
    request_->call(request_->closure);
  } catch (...) {
    failure_ = std::current_exception();
  }
  if (failure_ != nullptr) give_up(on);
  if (watching != nullptr) watching->end_thread(t);
  t.waits = wait_kind::exited;
  ++exited_;
}

void block_runner::give_up(fiber& on) {
  on.switch_to(native_);
  __builtin_unreachable();  // native_ resets this fiber
}

void block_runner::suspend(thread& t) {
  if (thread* next = ready_.pop()) {
    resume_another(t, *next->on);
  } else if (next_ < threads_.size()) {
    resume_another(t, idle_fiber());
  } else {
    resume_another(t, native_);  // no thread can ever continue
  }
}

void block_runner::resume_another(thread& t, context& target) {
  t.on->switch_to(target);
  current = &t;
}

void block_runner::yield(thread& t) {
  ready_.push(t);
  if (next_ < threads_.size()) {  // the awaited thread may not have started yet
    resume_another(t, idle_fiber());
    return;
  }
  thread* next = ready_.pop();
  if (next != &t) resume_another(t, *next->on);
}

void block_runner::fail(thread& t, const char* text) {
  // Nothing with a destructor may be left on this stack: it is not unwound.
  [&]() noexcept {
    failure_ = std::make_exception_ptr(error(KZOO_ERROR, where_text() + ": " + text));
  }();
  give_up(*t.on);
}

unsigned block_runner::barrier(thread& t, block_op op, bool predicate, std::source_location where) {
  if (watching != nullptr) watching->reach_barrier(t);
  if (barrier_.arrived == 0) {
    barrier_.op = op;
    barrier_.where = where;
    barrier_.votes = 0;
  }
  const bool same = barrier_.op == op && same_place(barrier_.where, where);
  if (same) {
    barrier_.votes += predicate ? 1u : 0u;
    if (++barrier_.arrived == threads_.size()) {
      barrier_.arrived = 0;
      barrier_.result = barrier_.votes;
      ready_.take_all(barrier_.waiting);
      return barrier_.result;
    }
    barrier_.waiting.push(t);
  }  // otherwise it waits forever, which the end of the block reports
  t.waits = wait_kind::barrier;
  t.barrier = op;
  t.where = where;
  suspend(t);
  // The next barrier cannot complete before this thread reaches it, so the result is still valid.
  return barrier_.result;
}

std::string block_runner::where_text() const {
  return "kernel " + symbol_name(request_->kernel) + ", block " + detail::shape_text(block_idx_);
}

namespace {

thread& running() { return static_cast<thread&>(const_cast<thread_view&>(*current)); }

}  // namespace

unsigned block_barrier(block_op op, bool predicate, std::source_location where) {
  thread& t = running();
  return t.owner->barrier(t, op, predicate, where);
}

std::uint64_t warp_collective(warp_op op, unsigned mask, std::uint64_t value, unsigned source,
                              std::source_location where) {
  thread& t = running();
  return t.owner->collective(t, op, mask, value, source, where);
}

void warp_together(const warp_work& work, void* mine, std::source_location where) {
  thread& t = running();
  t.owner->together(t, work, mine, where);
}

void yield() {
  thread& t = running();
  t.owner->yield(t);
}

long long nanoseconds() {
  const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
  return now.count();
}

void fail(const char* text) {
  thread& t = running();
  t.owner->fail(t, text);
}

}  // namespace kzoo::sim
