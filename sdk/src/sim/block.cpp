#include "block.hpp"

#include <chrono>
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

void thread_list::remove(thread& t) {
  thread* before = nullptr;
  for (thread* i = head_; i != &t; i = i->next) before = i;
  (before == nullptr ? head_ : before->next) = t.next;
  if (tail_ == &t) tail_ = before;
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

void block_runner::prepare(const grid_request& request, std::uint64_t seed) {
  request_ = &request;
  seed_ = seed;
  const dim3 block = request.block;
  const dim3 cluster = request.cluster;
  const std::size_t per_block = static_cast<std::size_t>(block.x) * block.y * block.z;
  const std::size_t blocks = static_cast<std::size_t>(cluster.x) * cluster.y * cluster.z;
  threads_.resize(per_block * blocks);
  if (all_ctas_.size() < blocks) all_ctas_.resize(blocks);
  if (shared_.size() < blocks) shared_.resize(blocks);
  ctas_ = std::span(all_ctas_).first(blocks);
  for (unsigned rank = 0; rank < blocks; ++rank) {
    ctas_[rank].threads = std::span(threads_).subspan(rank * per_block, per_block);
    prepare_block(ctas_[rank], rank);
  }
}

void block_runner::prepare_block(cta& in, unsigned rank) {
  const dim3 block = request_->block;
  auto& shared = shared_[rank];
  if (shared == nullptr && request_->dynamic_shared != 0) {
    shared.reset(static_cast<unsigned char*>(
        ::operator new (launch_limits{}.shared_opt_in, kSharedAlignment)));
  }
  in.rank = rank;
  in.dynamic_shared = shared.get();
  in.warps.resize((in.threads.size() + 31) / 32);
  in.sm90.prepare(request_->dynamic_shared, static_shared_.bytes().size, in.threads.size());
  unsigned linear = 0;
  for (unsigned z = 0; z < block.z; ++z) {
    for (unsigned y = 0; y < block.y; ++y) {
      for (unsigned x = 0; x < block.x; ++x, ++linear) {
        thread& t = in.threads[linear];
        static_cast<thread_view&>(t) = {{x, y, z}, {}, block, request_->grid, linear, shared.get()};
        t.owner = this;
        t.in = &in;
      }
    }
  }
}

std::exception_ptr block_runner::run(uint3 block_idx, std::uint64_t number) {
  block_idx_ = block_idx;
  next_ = 0;
  exited_ = 0;
  const dim3 cluster = request_->cluster;
  for (cta& in : ctas_) {
    in.index = {block_idx.x + in.rank % cluster.x, block_idx.y + in.rank / cluster.x % cluster.y,
                block_idx.z + in.rank / (cluster.x * cluster.y)};
    in.exited = 0;
    in.sm90.begin(sm90_.clock);
  }
  schedule_.begin(seed_, number, threads_.size());
  poison_shared();
  if (watching != nullptr) {
    const dim3 grid = request_->grid;
    for (cta& in : ctas_) {
      const std::uint64_t row = std::uint64_t{in.index.z} * grid.y + in.index.y;
      watching->begin_block(row * grid.x + in.index.x, *request_, in.threads);
    }
  }
  native_.switch_to(idle_fiber());
  current = nullptr;
  if (watching == nullptr && ctas_.size() == 1) static_shared_.note_use(request_->kernel);
  if (watching != nullptr) {
    for (cta& in : ctas_) watching->end_block(in.threads);
  }
  if (failure_ == nullptr && exited_ != threads_.size()) {
    failure_ =
        std::make_exception_ptr(error(KZOO_ERROR, describe_divergence(threads_, where_text())));
  }
  if (failure_ == nullptr) {
    if (const std::string problem = sm90::problem_at_end(*this); !problem.empty())
      set_failure(problem);
  }
  if (failure_ != nullptr) abandon_fibers();
  return std::exchange(failure_, nullptr);
}

// Uninitialised on a GPU; here a read before the first write always gives NaN or -1.
void block_runner::poison_shared() {
  // An observer detects reads before writes.
  if (watching == nullptr) {
    if (ctas_.size() > 1) static_shared_.note_whole_use(request_->kernel);
    static_shared_.poison(request_->kernel);
  }
  entered_ = ctas_.data();
  const std::size_t bytes = request_->dynamic_shared;
  for (cta& in : ctas_) {
    if (ctas_.size() > 1) in.statics.assign(static_shared_.bytes().size, 0xff);
    if (bytes == 0) continue;
#if defined(__SANITIZE_ADDRESS__)
    const std::size_t whole = launch_limits{}.shared_opt_in;
    __asan_unpoison_memory_region(in.dynamic_shared, whole);
    __asan_poison_memory_region(in.dynamic_shared + bytes, whole - bytes);
#endif
    std::memset(in.dynamic_shared, 0xff, bytes);
  }
}

// Puts a block's static shared memory in place.
void block_runner::enter(cta& in) {
  if (&in == entered_) return;
  static_shared_.exchange(entered_->statics, in.statics);
  entered_ = &in;
}

std::optional<sm90::shared_offset> block_runner::offset_of(const cta& in, const void* shared,
                                                           std::size_t bytes) const {
  const auto* at = static_cast<const unsigned char*>(shared);
  const auto within = [&](const unsigned char* begin, std::size_t size) {
    return begin != nullptr && at >= begin && at <= begin + size &&
           bytes <= static_cast<std::size_t>(begin + size - at);
  };
  if (within(in.dynamic_shared, request_->dynamic_shared))
    return static_cast<sm90::shared_offset>(at - in.dynamic_shared);
  const byte_range& statics = static_shared_.bytes();
  if (within(statics.begin, statics.size))
    return sm90::kStatic + static_cast<sm90::shared_offset>(at - statics.begin);
  return std::nullopt;
}

unsigned char* block_runner::memory(cta& in, sm90::shared_offset at) {
  if (at < sm90::kStatic) return in.dynamic_shared + at;
  unsigned char* statics = &in == entered_ ? static_shared_.bytes().begin : in.statics.data();
  return statics + (at - sm90::kStatic);
}

void block_runner::abandon_fibers() {
  idle_.clear();
  for (fiber& f : fibers_) {
    if (!f.idle) f.reset(stack_colour(f.number), &fiber_main);
    f.idle = true;
    idle_.push_back(&f);
  }
  for (cta& in : ctas_) {
    for (warp_state& w : in.warps) w.count = 0;
    in.barrier.waiting = {};
    in.barrier.arrived = 0;
    in.sm90.abandoned = true;
  }
  for (thread& t : threads_) {
    t.copies.clear();
    t.sm90.stores.clear();
  }
  ready_ = {};
  copying_.by = nullptr;
  sm90_.abandon();
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
    thread* next = owner.next_ready();
    self.switch_to(next != nullptr ? static_cast<context&>(*next->on) : owner.native_);
  }
}

// Ready threads go first: kernels with only warp operations then need one fiber per lane.
void block_runner::run_threads(fiber& on) {
  do {
    start_next(on);
  } while ((ready_.empty() || schedule_.begins_first()) && next_ < threads_.size());
}

void block_runner::start_next(fiber& on) {
  thread& t = threads_[schedule_.thread_after(next_++)];
  t.on = &on;
  t.block_idx = t.in->index;
  t.waits = wait_kind::none;
  t.sm90.instructions = 0;
  t.sm90.registers = 0;
  t.sm90.fragments.clear();
  enter(*t.in);
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
  ++t.in->exited;
  drop_copies(t);
}

// The next thread to continue. If there is none, copies arrive.
thread* block_runner::next_ready() {
  while (failure_ == nullptr) {
    thread* const t = schedule_.is_random() ? next_by_schedule() : ready_.pop();
    if (t != nullptr) return t;
    if (sm90_.copies.empty()) break;
    const std::size_t count = sm90_.copies.size();
    sm90::finish_copy(*this, schedule_.is_random() ? schedule_.choose(count) : 0);
  }
  return nullptr;
}

// Null if a copy comes first.
thread* block_runner::next_by_schedule() {
  schedule_.step();
  const auto priority = [&](const thread& t) {
    return schedule_.priority(static_cast<std::size_t>(&t - threads_.data()) / 32);
  };
  thread* const best = ready_.best(priority);
  if (best == nullptr) return nullptr;
  if (!sm90_.copies.empty() && schedule_.copy_priority() > priority(*best)) return nullptr;
  ready_.remove(*best);
  return best;
}

void block_runner::give_up(fiber& on) {
  on.switch_to(native_);
  __builtin_unreachable();  // native_ resets this fiber
}

void block_runner::suspend(thread& t) {
  const bool can_begin = next_ < threads_.size();
  thread* next = nullptr;
  if (!can_begin || (schedule_.is_random() && !schedule_.begins_first())) {
    next = next_ready();
  } else if (!schedule_.is_random()) {
    next = ready_.pop();
  }
  if (next != nullptr) {
    if (next != &t) resume_another(t, *next->on);
  } else if (can_begin && failure_ == nullptr) {
    resume_another(t, idle_fiber());
  } else {
    resume_another(t, native_);  // no thread can ever continue
  }
}

void block_runner::resume_another(thread& t, context& target) {
  t.on->switch_to(target);
  enter(*t.in);
  current = &t;
}

void block_runner::yield(thread& t) {
  ready_.push(t);
  if (next_ < threads_.size()) {  // the awaited thread may not have started yet
    resume_another(t, idle_fiber());
    return;
  }
  // A polling thread may wait for a copy or for another block.
  constexpr unsigned kPatience = 256, kLongPatience = 16 * kPatience;
  if (++yields_ % kPatience == 0 && !sm90_.copies.empty()) {
    sm90::finish_copy(*this, 0);
    give_up_if_failed(t);
  } else if (yields_ % kLongPatience == 0) {
    begin_another_block();
  }
  thread* next = ready_.pop();
  if (next != &t) resume_another(t, *next->on);
}

void block_runner::set_failure(const std::string& text) {
  if (failure_ == nullptr)
    failure_ = std::make_exception_ptr(error(KZOO_ERROR, where_text() + ": " + text));
}

void block_runner::fail(thread& t, const char* text) {
  fail_with(t, [&] { return std::string(text); });
}

unsigned block_runner::barrier(thread& t, block_op op, bool predicate, std::source_location where) {
  if (watching != nullptr) watching->reach_barrier(t);
  auto& at = t.in->barrier;
  if (at.arrived == 0) {
    at.op = op;
    at.where = where;
    at.votes = 0;
  }
  const bool same = at.op == op && same_place(at.where, where);
  if (same) {
    at.votes += predicate ? 1u : 0u;
    if (++at.arrived == t.in->threads.size()) {
      at.arrived = 0;
      at.result = at.votes;
      ready_.take_all(at.waiting);
      return at.result;
    }
    at.waiting.push(t);
  }  // otherwise it waits forever, which the end of the block reports
  t.waits = wait_kind::barrier;
  t.barrier = op;
  t.where = where;
  suspend(t);
  // The next barrier cannot complete before this thread reaches it, so the result is still valid.
  return at.result;
}

std::string block_runner::where_text() const {
  return "kernel " + symbol_name(request_->kernel) + ", block " + detail::shape_text(block_idx_);
}

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
