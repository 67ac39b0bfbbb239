#include "recorder.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <span>

#include <link.h>

#include <kzoo/async_copy.hpp>
#include <kzoo/mma.hpp>

extern "C" const char __ehdr_start __attribute__((visibility("hidden")));  // this library's

namespace kzoo::sim {
namespace {

constexpr unsigned kWarp = 32;
// Limit of one OS thread's logs: a warp with more between two barriers cannot be recorded.
constexpr std::size_t kMostBytes = std::size_t{128} << 20;

kzoo_xray_sink sink;

// The logs of the block that an OS thread runs.
class worker {
 public:
  void begin_block(std::uint64_t block, const grid_request& request, std::span<thread> threads) {
    if (runner_side_ == nullptr) {
      const byte_range all = thread_locals();
      const auto begin = reinterpret_cast<std::uintptr_t>(all.begin);
      const kzoo_xray_range shared{begin, begin + all.size};
      runner_side_ = sink.begin_worker(sink.self, &shared);
    }
    block_ = block;
    threads_ = threads;
    other_barriers_ = false;
    logs_.resize(threads.size());
    warps_.assign((threads.size() + kWarp - 1) / kWarp, {});
    const auto dynamic = reinterpret_cast<std::uintptr_t>(threads[0].dynamic_shared);
    const kzoo_xray_range range{dynamic, dynamic + request.dynamic_shared};
    sink.begin_block(runner_side_, block, &range);
  }

  void begin_thread(thread& t) {
    lane_log& log = logs_[t.linear];
    log.stack = reinterpret_cast<std::uintptr_t>(t.on->bottom);
    log.flags = 0;
    log.events.clear();
    t.log = &log;
  }

  void has_other_barrier() { other_barriers_ = true; }

  // Ends the thread's records in this interval.
  void arrive(const thread& t, bool at_barrier) {
    const unsigned number = t.linear / kWarp;
    warp& w = warps_[number];
    w.at_barrier = w.at_barrier || at_barrier;
    ++(at_barrier ? w.arrived : w.ended);
    if (w.arrived + w.ended == lanes_of(number).size()) hand_over(number);
  }

  // Also after an error.
  void end_block() {
    for (unsigned number = 0; number < warps_.size(); ++number) hand_over(number);
    for (thread& t : threads_) t.log = nullptr;
    sink.end_block(runner_side_);
  }

  // Adds memory to the running thread's log.
  void grow(lane_log& log) {
    constexpr std::size_t kFirst = 256;
    std::vector<kzoo_xray_event>& events = log.events;
    if (events.capacity() == 0 && !spare_.empty()) {
      events = std::move(spare_.back());
      spare_.pop_back();
      if (events.size() < events.capacity()) return;
    }
    const std::size_t before = events.capacity();
    const std::size_t more = before == 0 ? kFirst : before;
    if (bytes_ += more * sizeof(kzoo_xray_event); bytes_ > kMostBytes) {
      for (thread& t : threads_) t.log = nullptr;  // fail() may call instrumented code
      fail(
          "a warp accesses memory too often between two barriers to be recorded; choose a smaller K");
    }
    events.reserve(before + more);
  }

 private:
  struct warp {
    std::size_t arrived = 0, ended = 0;
    std::uint32_t interval = 0;
    bool at_barrier = false;
  };

  std::span<lane_log> lanes_of(unsigned number) {
    const std::size_t first = std::size_t{number} * kWarp;
    return std::span(logs_).subspan(first, std::min<std::size_t>(kWarp, logs_.size() - first));
  }

  void hand_over(unsigned number) {
    warp& w = warps_[number];
    const std::span<lane_log> logs = lanes_of(number);
    kzoo_xray_lane lanes[kWarp]{};
    bool any = false;
    for (std::size_t i = 0; i < logs.size(); ++i) {
      const auto& events = logs[i].events;
      lanes[i] = {events.data(), events.data() + events.size()};
      any = any || !events.empty();
    }
    if (any || w.at_barrier) {
      const kzoo_xray_interval what{sizeof(kzoo_xray_interval),
                                    static_cast<std::uint32_t>(logs.size()),
                                    block_,
                                    number,
                                    w.interval,
                                    lanes,
                                    w.at_barrier ? 1u : 0u,
                                    other_barriers_ ? 1u : 0u};
      sink.interval(runner_side_, &what);
    }
    for (lane_log& log : logs) {
      if (log.events.capacity() == 0) continue;
      log.events.clear();
      spare_.push_back(std::move(log.events));
      log.events = {};
    }
    w.arrived = 0;
    ++w.interval;
    w.at_barrier = false;
  }

  void* runner_side_ = nullptr;
  std::uint64_t block_ = 0;
  bool other_barriers_ = false;
  std::span<thread> threads_;
  std::vector<lane_log> logs_;
  std::vector<warp> warps_;
  std::vector<std::vector<kzoo_xray_event>> spare_;  // empty, with memory
  std::size_t bytes_ = 0;
};

// Each block of a cluster has its own. They are no thread-local variables, which are exchanged with
// a block's static shared memory.
worker& worker_of(const thread& t) {
  std::shared_ptr<void>& observed = t.owner->observed;
  if (observed == nullptr) observed = std::make_shared<std::deque<worker>>();
  auto& workers = *static_cast<std::deque<worker>*>(observed.get());
  while (workers.size() <= t.in->rank) workers.emplace_back();
  return workers[t.in->rank];
}

class recorder final : public observer {
 public:
  void begin_launch(const grid_request& request) override {
    const std::string name = symbol_name(request.kernel);
    const kzoo_xray_launch launch{sizeof(kzoo_xray_launch),
                                  {request.grid.x, request.grid.y, request.grid.z},
                                  {request.block.x, request.block.y, request.block.z},
                                  request.dynamic_shared,
                                  name.c_str()};
    sink.begin_launch(sink.self, &launch);
  }
  bool wants_block(std::uint64_t block) override { return sink.wants_block(sink.self, block) != 0; }
  void begin_block(std::uint64_t block, const grid_request& request,
                   std::span<thread> threads) override {
    worker_of(threads[0]).begin_block(block, request, threads);
  }
  void begin_thread(thread& t) override { worker_of(t).begin_thread(t); }
  void reach_barrier(thread& t) override { worker_of(t).arrive(t, true); }
  void has_other_barrier(thread& t) override { worker_of(t).has_other_barrier(); }
  void end_thread(thread& t) override { worker_of(t).arrive(t, false); }
  void meet(thread&) override { record_step(KZOO_XRAY_SYNC, 0, &__ehdr_start); }
  void act_for_warp(thread& t, bool begins) override {
    t.log->flags = 0;
    if (!begins) return;
    t.log->flags = KZOO_XRAY_WHOLE_WARP;
    // The last event is the meeting at the operation; its row is between the one before and it.
    const std::vector<kzoo_xray_event>& events = t.log->events;
    for (auto e = events.rbegin() + 1; e < events.rend() && e->kind != KZOO_XRAY_SYNC; ++e)
      t.log->flags |= e->flags & KZOO_XRAY_ROW;
  }
  void start_async(async_access what, const async_traffic& moved, const void* from) override {
    record_step(KZOO_XRAY_TMA_LOAD + static_cast<unsigned>(what),
                std::uint64_t{moved.passes} << 32 | moved.bytes, from);
  }
  void end_block(std::span<thread> threads) override { worker_of(threads[0]).end_block(); }
};

lane_log* running_log() {
  const thread_view* t = current;
  return t == nullptr ? nullptr : static_cast<const thread*>(t)->log;
}

void push(lane_log& log, const kzoo_xray_event& event) {
  if (log.events.size() == log.events.capacity()) [[unlikely]]
    worker_of(running()).grow(log);
  log.events.push_back(event);
}

void attach(const kzoo_xray_sink* to) {
  static recorder only;
  sink = *to;
  watching = &only;
}

}  // namespace

std::uint32_t offset_of(const void* from) {
  return static_cast<std::uint32_t>(static_cast<const char*>(from) - &__ehdr_start);
}

void record_step(unsigned kind, std::uint64_t value, const void* from) {
  lane_log* log = running_log();
  // The steps of a warp-wide operation are the simulator's own; only its accesses count.
  if (log != nullptr && (log->flags & KZOO_XRAY_WHOLE_WARP) == 0)
    push(*log, {value, offset_of(from), static_cast<std::uint8_t>(kind), 0, log->flags, 0});
}

void record(unsigned kind, const volatile void* address, std::size_t bytes, const void* from) {
  const thread_view* t = current;
  if (t == nullptr) return;
  lane_log* log = static_cast<const thread*>(t)->log;
  if (log == nullptr) return;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (at - log->stack < kStackBytes || at == reinterpret_cast<std::uintptr_t>(&current) ||
      at - reinterpret_cast<std::uintptr_t>(t) < sizeof(thread_view)) {
    return;
  }
  // A warp-wide operation also has the other lanes' registers.
  if ((log->flags & KZOO_XRAY_WHOLE_WARP) != 0 &&
      static_cast<const thread*>(t)->owner->is_on_stack(at)) {
    return;
  }
  if (kind == KZOO_XRAY_WRITE && log->flags == 0 && sm90::follows_async_proxy)
    sm90::note_store(address, bytes, offset_of(from));
  push(*log, {at, offset_of(from), static_cast<std::uint8_t>(kind),
              static_cast<std::uint8_t>(bytes), log->flags, 0});
}

void mma::record_row(const void* row, bool stored) {
  lane_log* log = running_log();
  if (log == nullptr) return;
  log->flags = KZOO_XRAY_ROW;
  record(stored ? KZOO_XRAY_WRITE : KZOO_XRAY_READ, row, 16, __builtin_return_address(0));
  log->flags = 0;
}

void record_async_copy(void* shared, const void* global, unsigned bytes, bool inside,
                       std::source_location where) {
  const void* from = __builtin_return_address(0);
  if (lane_log* log = running_log()) {
    const auto before = log->flags;
    log->flags = before | KZOO_XRAY_ASYNC;
    record(KZOO_XRAY_READ, global, inside ? bytes : 0, from);
    record(KZOO_XRAY_WRITE, shared, bytes, from);
    log->flags = before;
  }
  copy_async(shared, global, bytes, inside, where);
}

}  // namespace kzoo::sim

extern "C" __attribute__((visibility("default"))) const kzoo_xray KZOO_XRAY_SYMBOL;
const kzoo_xray KZOO_XRAY_SYMBOL = {sizeof(kzoo_xray), &kzoo::sim::attach};
