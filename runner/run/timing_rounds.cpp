#include "run/timing_rounds.hpp"

#include "core/verdict.hpp"
#include "os/posix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace kzoo::run {
namespace {

using results::cache_mode;

// A kernel at least this slow gets no warm-up runs.
constexpr double kWarmsItselfMs = 10;
// Nor does a kernel this slow that has already run in the same turn.
constexpr double kWarmMs = 2;
// Setting up a turn takes milliseconds anyway, so short kernels are sampled for as long.
constexpr double kSampledMs = 4;
constexpr double kMaxSamples = 16;
// A sustained turn takes seconds.
constexpr int kSustainedTurns = 3;

// Times one cell, turn by turn. A turn prepares the kernel, warms it up, takes a few samples and
// frees its memory, so that addresses differ between turns.
class cell_timer {
 public:
  // `clock_round`: the random round in which the worker's clock is compared with ours.
  cell_timer(timed_cell& timed, const results::timing_options& how, const memory_need& needed,
             int clock_round)
      : timed_(timed),
        how_(how),
        need_(needed),
        clock_round_(clock_round),
        rule_{how.rounds, how.max_relative_half_width, how.max_seconds} {
    // Simulated times need no precision, and a new process for each turn is expensive.
    if (is_simulated() || how.fresh_processes)
      rule_.max_relative_half_width = std::numeric_limits<double>::infinity();
    begin();
  }

  const results::cell& cell() const { return *timed_.cell; }
  client::plugin_client* client() const { return timed_.client; }
  bool is_on_gpu() const { return timed_.clock == timing::clock::gpu; }
  bool is_right_so_far() const { return passes() && !alone_; }
  // Whether it needs another round. `others`: whether some other cell does.
  bool takes_part(bool others) const {
    if (!passes() || dropped_ || out_of_budget_) return false;
    return takes_sustained_turn() || std::ranges::any_of(kinds_, [&](const kind& k) {
             return !k.samples.out_of_time(rule_) &&
                    (!k.samples.precise(rule_) || (timed_.is_baseline && others));
           });
  }

  void take_turn(int round, double warmup_seconds) {
    while_prepared([&] {
      int warmed_up = compare_bits();
      for (kind& k : kinds_) {
        if (!passes() || k.samples.out_of_time(rule_)) continue;
        sample(k, round, std::exchange(warmed_up, 0), warmup_seconds);
      }
      if (takes_sustained_turn()) sustain(round);
      if (round == clock_round_ && !worker_clock_.agrees()) compare_clocks();
    });
  }

  // Whether it may be the fastest kernel: it was timed, and is neither the baseline nor simulated.
  bool competes() const {
    return passes() && !timed_.is_baseline && !is_simulated() && !kinds_.front().samples.empty();
  }
  // Its times so far. Requires competes().
  timing::summary so_far() const { return kinds_.front().samples.so_far(); }
  // Takes no further turns, since another kernel is faster.
  void drop() { dropped_ = true; }
  void take_back() { dropped_ = false; }
  // The time of the whole run is over.
  void stop() { out_of_budget_ = true; }

  // Makes the measurements that are made once, after the rounds. More rounds may follow.
  void measure_once() {
    const bool clocks_known = clocks_compared_ || worker_clock_.agrees();
    const bool all_done = clocks_known && (!how_.end_to_end || cell().end_to_end);
    const bool untimed = kinds_.front().samples.empty();  // the run's time was over
    if (!passes() || all_done || untimed) return;
    while_prepared([&] {
      if (!clocks_known) compare_clocks();
      if (how_.end_to_end && passes()) measure_end_to_end();
    });
  }
  // Whether another process uses the device, just before its turn.
  bool sees_neighbour() const {
    constexpr double kMostPauseMs = 0.2;
    constexpr int kTimes = 2;  // the driver sometimes pauses a kernel
    try {
      for (int i = 0; i < kTimes; ++i)
        if (client()->longest_pause_ms(cell().device) < kMostPauseMs) return false;
    } catch (const failure&) {
      return false;  // its turn will show the failure
    }
    return true;
  }
  // Discards its measurements, because another kernel may have changed its process.
  void start_again() {
    if (passes()) begin();
  }
  // `step`: a name from kzoo::step.
  void fail(verdict v, const std::string& reason, std::string_view step = "") {
    timed_.cell->verdict = v;
    timed_.cell->reason = reason;
    timed_.cell->check = step;
  }
  // Sets the cell's times, after the last turn.
  void finish() {
    if (!passes() || kinds_.front().samples.empty()) return;
    results::cell& c = *timed_.cell;
    if (const auto leak = leaks_.found()) {
      if (leak->is_large) return fail(verdict::wrong, leak->words, step::kLeak);
      c.findings.push_back(results::remark(results::kMemory, leak->words));
    }
    if (!limits_.empty())
      c.findings.push_back(results::remark(
          results::kLimits, "changes limits that other kernels of its process share: " + limits_ +
                                "; they are set back after each turn"));
    if (alone_) c.findings.push_back(excuse_);
    c.time = summarised(kinds_.front());
    if (kinds_.size() > 1 && !kinds_.back().samples.empty()) c.hot_time = summarised(kinds_.back());
    if (!sustained_.empty()) c.sustained = checks::summarised(sustained_, timed_.clock);
    if (how_.power == results::power_mode::sustained && c.sustained) c.time = c.sustained->time;
  }

 private:
  // Samples with cold or with hot caches.
  struct kind {
    bool hot;
    timing::throttle_filter filter;
    timing::series samples{};
    bool flushed = false;
    double last_ms = 0;
  };

  void begin() {
    const timing::throttle_filter filter(timed_.highest_mhz, how_.min_samples);
    kinds_.clear();
    if (how_.mode != cache_mode::hot || is_simulated()) kinds_.push_back({false, filter});
    if (how_.mode != cache_mode::cold && !is_simulated()) kinds_.push_back({true, filter});
    sustained_.clear();
    worker_clock_ = {};
    clocks_compared_ = false;
    dropped_ = false;
    timed_.cell->end_to_end.reset();
  }
  // Calls work() with the kernel prepared, then frees its memory.
  void while_prepared(const std::function<void()>& work) {
    if (how_.fresh_processes || alone_) client()->leave();
    const problem& p = timed_.candidate->current_problem();
    const std::string before = client()->ran_before(timed_.candidate->who().variant, p);
    const double start = steady_seconds();
    try {
      timed_.candidate->prepare(p);
      work();
      timed_.candidate->destroy();
    } catch (const failure& f) {
      fail(f.verdict, f.what(), f.step);
    } catch (const std::exception& e) {
      fail(verdict::error, e.what());
    }
    timed_.cell->time_seconds += steady_seconds() - start;
    if (passes()) {
      const std::optional<worker::memory_report> kept = release(*client(), need_);
      leaks_.add(kept, need_.bytes);
      if (kept && !kept->limits.empty()) limits_ = kept->limits;
      return;
    }
    // A failing kernel's leftovers must not affect the next kernel.
    client()->leave();
    excuse_if_possible(before);
  }
  void excuse_if_possible(const std::string& before) {
    if (alone_ || !gets_second_chance(cell(), before)) return;
    alone_ = true;
    excuse_ = second_chance("timed in processes of its own", before, cell());
    try {
      // A kernel that fails only now and then is not excused.
      if (!timed_.candidate->repeat({timed_.digest}).right) return client()->leave();
    } catch (const failure&) {
      return client()->leave();
    }
    timed_.cell->verdict = verdict::pass;
    timed_.cell->reason.clear();
    timed_.cell->check.clear();
    timed_.cell->errors.reset();
    begin();
  }
  // `warmed_up`: the kernel's earlier runs in this turn.
  void sample(kind& k, int round, int warmed_up, double warmup_seconds) {
    worker::sample_request how;
    // The very first run may take longer.
    const double warms_ms = warmed_up > 0 && !k.samples.empty() ? kWarmMs : kWarmsItselfMs;
    const bool needs_more = k.last_ms < warms_ms || warmup_seconds > 0;
    how.warmup = needs_more ? std::max(how_.warmup - warmed_up, 0) : 0;
    how.warmup_seconds = warmup_seconds;
    how.samples = samples_for(k);
    how.max_seconds = how_.max_seconds / how_.rounds;
    how.hot = k.hot;
    const double start = steady_seconds();
    const checks::judged_samples taken = checks::sample(*timed_.candidate, how, k.filter);
    const double seconds = steady_seconds() - start;
    fail_unless(taken.judgement, step::kTimed, "right when it ran once, wrong when it was timed: ");
    if (!passes()) return;
    // Warm-up of an idle device or a new process does not count against the time limit.
    const bool was_idle = how_.fresh_processes || warmup_seconds > 0;
    const double warmup_time = was_idle ? std::min(taken.warmup_seconds, seconds) : 0;
    worker_clock_.add(taken);
    k.samples.add(round, taken.samples_ms, taken.sm_mhz, seconds - warmup_time);
    k.flushed = taken.cold_cache;
    k.last_ms = taken.samples_ms.back();
    timed_.cell->conditions.add(taken.conditions);
  }
  void sustain(int round) {
    const checks::sustained_turn turn = checks::take_sustained_turn(*timed_.candidate, round);
    fail_unless(turn.judgement, step::kTimed,
                "right when it ran once, wrong when it ran without pauses: ");
    if (!passes()) return;
    sustained_.push_back(turn);
    timed_.cell->conditions.add(turn.conditions);
  }
  // Runs the kernel on the judged inputs: its output must have the same bits. A fast kernel runs
  // before each turn, any other only before its first. Returns the number of runs.
  int compare_bits() {
    kind& k = kinds_.front();
    if (!k.samples.empty() && (is_simulated() || k.last_ms >= kWarmsItselfMs)) return 0;
    const checks::judged_run again = timed_.candidate->run(0, {timed_.digest});
    if (k.last_ms <= 0) k.last_ms = again.report.ms;
    fail_unless(again.judgement, step::kTimed, "right when it ran once, wrong when it ran again: ");
    const checks::candidate_description& who = timed_.candidate->who();
    if (!passes() || again.report.output.known || who.description.nondeterministic) return 1;
    fail(
        verdict::wrong,
        "within the bound, but not bit for bit the result that was judged before, and the variant is "
        "not declared nondeterministic: a race, or another computation when it is timed?",
        step::kRepeats);
    return 1;
  }
  void compare_clocks() {
    clocks_compared_ = true;
    if (passes() && !is_simulated())
      fail_unless(worker_clock_.compare(*timed_.candidate, kinds_.back().hot), step::kClock, "");
  }
  void measure_end_to_end() {
    const auto timed = checks::end_to_end(*timed_.candidate, how_.max_seconds);
    fail_unless(timed.judgement, step::kFresh, "wrong in memory that was just allocated: ");
    if (passes()) timed_.cell->end_to_end = timed.medians;
  }
  // `step`: the failed step if the judgement names none.
  void fail_unless(const reference::judgement& j, std::string_view step, const std::string& when) {
    if (j.right) return;
    timed_.cell->errors = j.errors;
    fail(verdict::wrong, when + j.reason, j.step == step::kResult ? step : j.step);
  }

  bool passes() const { return cell().verdict == verdict::pass; }
  bool is_simulated() const { return timed_.clock == timing::clock::simulator; }
  bool takes_sustained_turn() const {
    return how_.power != results::power_mode::burst && passes() && !is_simulated() &&
           sustained_.size() < kSustainedTurns;
  }
  int samples_for(const kind& k) const {
    const int least = how_.samples_per_turn();
    if (k.last_ms <= 0 || is_simulated()) return least;
    return std::max(least, static_cast<int>(std::min(kMaxSamples, kSampledMs / k.last_ms)));
  }
  timing::summary summarised(const kind& k) const {
    timing::summary s = k.samples.summarised(rule_);
    if (dropped_)
      s.stopped = timing::stop::slower;
    else if (out_of_budget_ && s.stopped != timing::stop::precise)
      s.stopped = timing::stop::budget;
    s.clock = timed_.clock;
    s.throttled = k.filter.discarded();
    s.low_clock = k.filter.low_clock();
    s.caches = k.hot       ? timing::caches::hot
               : k.flushed ? timing::caches::cold
                           : timing::caches::warm;
    return s;
  }

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

// Load that ramps up GPU clocks, before the first turn and after each start of a process.
constexpr double kClockWarmupSeconds = 0.1;

class timing_rounds {
 public:
  timing_rounds(const results::timing_options& how, std::span<timed_cell> timed_cells,
                const round_limits& limits, const memory_need& needed)
      : how_(how), limits_(limits), first_round_(limits.first_round) {
    std::uniform_int_distribution<int> clock_round(first_round_, first_round_ + how.rounds - 1);
    for (timed_cell& t : timed_cells) timers_.emplace_back(t, how, needed, clock_round(random_));
  }

  void run(const turn_observer& watch) {
    for (int round = first_round_;;) {
      if (limits_.deadline && steady_seconds() >= *limits_.deadline)
        for (cell_timer& t : timers_) t.stop();
      const std::vector<cell_timer*> now = participants();
      if (!now.empty()) {
        run_round(round++, now, watch);
        if (how_.drop_slower) drop_slower();
        continue;
      }
      for (cell_timer& t : timers_) in_its_process(t, [&] { t.measure_once(); });
      if (participants().empty()) break;
    }
    for (cell_timer& t : timers_) t.finish();
  }

 private:
  // Returns the cells of the next round.
  std::vector<cell_timer*> participants() {
    const bool others =
        std::ranges::any_of(timers_, [](const cell_timer& t) { return t.takes_part(false); });
    std::vector<cell_timer*> chosen;
    for (cell_timer& t : timers_)
      if (t.takes_part(others)) chosen.push_back(&t);
    return chosen;
  }

  void run_round(int round, std::vector<cell_timer*> now, const turn_observer& watch) {
    std::ranges::shuffle(now, random_);
    neighbours_.begin_round(std::vector<neighbour_watch::kernel>(now.begin(), now.end()),
                            how_.rounds, random_);
    for (cell_timer* t : now) {
      if (t->cell().verdict != verdict::pass) continue;
      watch(round, t->cell());
      if (t->is_on_gpu()) look_for_neighbour(*t);
      const bool is_idle = how_.fresh_processes || (round == first_round_ && t == now.front());
      const double warmup = t->is_on_gpu() && is_idle ? kClockWarmupSeconds : 0;
      in_its_process(*t, [&] { t->take_turn(round, warmup); });
      neighbours_.had_turn(t->client(), t);
    }
  }

  // Calls take(), which lets `t` run in its process.
  template <class Take>
  void in_its_process(cell_timer& t, const Take& take) {
    const bool was_right = t.is_right_so_far();
    take();
    if (!was_right || t.is_right_so_far()) return;
    // Kernels may have been dropped because of `t`. Slower kernels will be dropped again.
    for (cell_timer& other : timers_) other.take_back();
    // It disturbed its process or was disturbed there. Other kernels of its plugin may be affected.
    for (cell_timer& other : timers_)
      if (other.client() == t.client()) other.start_again();
  }

  void drop_slower() {
    std::vector<std::pair<cell_timer*, timing::summary>> rivals;
    for (cell_timer& t : timers_)
      if (t.competes()) rivals.emplace_back(&t, t.so_far());
    const auto median = [](const auto& rival) { return rival.second.median_ms; };
    const auto fastest = std::ranges::min_element(rivals, {}, median);
    for (const auto& [rival, times] : rivals) {
      const bool same_process = rival->client() == fastest->first->client();
      const timing::process_spread between =
          same_process || how_.fresh_processes ? timing::process_spread{} : limits_.spread;
      if (timing::is_slower(times, fastest->second, how_.max_relative_half_width, between))
        rival->drop();
    }
  }

  // Looks for a stopped worker that keeps the GPU busy.
  void look_for_neighbour(cell_timer& next) {
    const auto end_workers = [&] {
      for (cell_timer& other : timers_)
        if (other.client() != next.client()) other.client()->leave();
    };
    const auto guilty =
        neighbours_.look(next.client(), {[&] { return next.sees_neighbour(); }, end_workers});
    if (!guilty) return;
    for (cell_timer& each : timers_) {
      if (each.client() == guilty->process) each.client()->leave();
      if (guilty->kernels.contains(&each))
        each.fail(verdict::wrong, "keeps the GPU busy after its turn, when others are timed",
                  step::kNeighbours);
    }
    for (cell_timer& each : timers_) {
      each.take_back();
      each.start_again();
    }
  }

  const results::timing_options& how_;
  round_limits limits_;
  int first_round_;
  // A new order in each round and each run, so that effects of the order average out.
  std::mt19937_64 random_{std::random_device{}()};
  std::vector<cell_timer> timers_;
  neighbour_watch neighbours_;
};

}  // namespace

void run_rounds(const results::timing_options& how, std::span<timed_cell> timed_cells,
                const round_limits& limits, const memory_need& needed, const turn_observer& watch) {
  timing_rounds(how, timed_cells, limits, needed).run(watch);
}

void neighbour_watch::begin_round(std::span<const kernel> turns, int rounds,
                                  std::mt19937_64& random) {
  const std::size_t all = turns.size(), enough = static_cast<std::size_t>(rounds);
  drawn_.clear();
  while (drawn_.size() < (all + enough - 1) / enough) {
    if (not_yet_drawn_.empty()) {
      not_yet_drawn_.assign(turns.begin(), turns.end());
      std::ranges::shuffle(not_yet_drawn_, random);
    }
    const kernel next = not_yet_drawn_.back();
    not_yet_drawn_.pop_back();
    if (std::ranges::find(turns, next) != turns.end()) drawn_.insert(next);
  }
}

void neighbour_watch::had_turn(worker w, kernel k) {
  last_ = w;
  last_kernel_ = k;
  if (drawn_.contains(k)) is_due_ = true;
}

std::optional<neighbour_watch::guilt> neighbour_watch::look(worker next, const device& on) {
  // is_busy() does not see the next worker's own work.
  const bool is_wanted = is_alert_ || (is_due_ && last_ != next);
  if (is_given_up_ || !is_wanted) return std::nullopt;
  is_due_ = false;
  const bool was_idle = std::exchange(was_idle_, true);
  const bool is_busy = on.is_busy();
  const bool is_known = is_alert_ && was_idle && last_ != nullptr && last_ != next;
  if (is_known && is_busy) {
    sightings& seen = seen_[last_];
    ++seen.count;
    seen.kernels.insert(last_kernel_);
  } else if (is_known) {
    ++idle_[last_];
  }
  if (is_busy) is_alert_ = true;
  const std::optional<guilt> guilty = to_blame();
  if (guilty) seen_.clear();
  if (guilty || !is_busy) return guilty;
  if (seen_.size() > 1)
    is_given_up_ = true;  // another program
  else
    wait_until_idle(on);
  return std::nullopt;
}

// Fisher's exact test: `chance` that another program is seen only after turns of one worker.
std::optional<neighbour_watch::guilt> neighbour_watch::to_blame() const {
  constexpr double kMostChance = 1e-5;
  if (seen_.size() != 1) return std::nullopt;
  const auto& [suspect, seen] = *seen_.begin();
  int own_looks = seen.count, looks = seen.count;
  for (const auto& [w, times] : idle_) {
    looks += times;
    if (w == suspect) own_looks += times;
  }
  double chance = 1;
  for (int i = 0; i < seen.count; ++i) chance *= double(own_looks - i) / (looks - i);
  if (chance >= kMostChance) return std::nullopt;
  return guilt{suspect, seen.kernels};
}

void neighbour_watch::wait_until_idle(const device& on) {
  constexpr int kLooks = 100;  // each takes some milliseconds
  for (int i = 0; i < kLooks; ++i)
    if (!on.is_busy()) return;
  on.end_workers();
  is_given_up_ = on.is_busy();
}

results::finding second_chance(std::string_view passes, const std::string& before,
                               const results::cell& failed) {
  return results::remark(
      results::kOwnWorker,
      fmt::format("{}; after {} in the same process it was {} ({}), so that one is suspect", passes,
                  before, name_of(failed.verdict), failed.reason));
}

}  // namespace kzoo::run
