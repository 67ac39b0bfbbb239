#pragma once
// Times one cell, turn by turn. A turn prepares the kernel, warms it up, takes a few samples and
// frees its memory, so that addresses differ between turns.

#include "checks/sustained_turn.hpp"
#include "checks/timed_runs.hpp"
#include "results/document.hpp"
#include "results/experiment.hpp"
#include "run/device_memory.hpp"
#include "timing/summary.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::run {

// If a kernel fails after another ran in the same process, it gets a second chance in its own
// process: the other kernel may be the cause. `before`: plugin_client::ran_before(). A hang gets no
// second chance: timeouts are long.
inline bool gets_second_chance(const results::cell& c, const std::string& before) {
  return is_failure(c.verdict) && c.verdict != verdict::hung && !before.empty();
}

// The finding for a kernel that then passes. `passes`: e.g. "passes in a process of its own".
results::finding second_chance(std::string_view passes, const std::string& before,
                               const results::cell& failed);

// A cell that passed and is to be timed.
struct timed_cell {
  results::cell* cell;  // receives the times, or a verdict other than pass
  client::plugin_client* client;
  std::unique_ptr<checks::candidate> candidate;
  timing::clock clock;
  double highest_mhz;        // maximum clock of the device; 0: unknown
  std::uint64_t digest;      // of the result that was judged right
  bool is_baseline = false;  // timed as long as any other cell is, within its time limit
};

class cell_timer {
 public:
  // `clock_round`: the random round in which the worker's clock is compared with ours.
  cell_timer(timed_cell& timed, const results::timing_options& how, const memory_need& needed,
             int clock_round);

  const results::cell& cell() const { return *timed_.cell; }
  client::plugin_client* client() const { return timed_.client; }
  bool is_on_gpu() const { return timed_.clock == timing::clock::gpu; }
  bool is_right_so_far() const { return passes() && !alone_; }
  // Whether it needs another round. `others`: whether some other cell does.
  bool takes_part(bool others) const;

  void take_turn(int round, double warmup_seconds);

  // Whether it may be the fastest kernel: it was timed, and is neither the baseline nor simulated.
  bool competes() const;
  // Its times so far. Requires competes().
  timing::summary so_far() const { return kinds_.front().samples.so_far(); }
  // Takes no further turns, since another kernel is faster.
  void drop() { dropped_ = true; }
  void take_back() { dropped_ = false; }
  // The time of the whole run is over.
  void stop() { out_of_budget_ = true; }

  // Makes the measurements that are made once, after the rounds. More rounds may follow.
  void measure_once();
  // Whether another process uses the device, just before its turn.
  bool sees_neighbour() const;
  // Discards its measurements, because another kernel may have changed its process.
  void start_again();
  // `step`: a name from kzoo::step.
  void fail(verdict v, const std::string& reason, std::string_view step = "");
  // Sets the cell's times, after the last turn.
  void finish();

 private:
  // Samples with cold or with hot caches.
  struct kind {
    bool hot;
    timing::throttle_filter filter;
    timing::series samples{};
    bool flushed = false;
    double last_ms = 0;
  };

  void begin();
  // Calls work() with the kernel prepared, then frees its memory.
  void while_prepared(const std::function<void()>& work);
  void excuse_if_possible(const std::string& before);
  void sample(kind& k, int round, int warmed_up, double warmup_seconds);
  void sustain(int round);
  int compare_bits();
  void compare_clocks();
  void measure_end_to_end();
  void fail_unless(const reference::judgement& j, std::string_view step, const std::string& when);

  bool passes() const { return cell().verdict == verdict::pass; }
  bool is_simulated() const { return timed_.clock == timing::clock::simulator; }
  bool takes_sustained_turn() const;
  int samples_for(const kind& k) const;
  timing::summary summarised(const kind& k) const;

  timed_cell& timed_;
  const results::timing_options& how_;
  const memory_need& need_;
  int clock_round_;
  timing::stop_rule rule_;
  bool dropped_ = false, out_of_budget_ = false;
  bool alone_ = false;  // on its second chance, in its own process
  results::finding excuse_;
  leaks leaks_;
  std::string limits_;  // device limits that the kernel changed
  // Measured since begin():
  std::vector<kind> kinds_;
  std::vector<checks::sustained_turn> sustained_;
  checks::worker_clock worker_clock_;
  bool clocks_compared_ = false;
};

}  // namespace kzoo::run
