#include "run/cell_timer.hpp"
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

}  // namespace

cell_timer::cell_timer(timed_cell& timed, const results::timing_options& how,
                       const memory_need& needed, int clock_round)
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

void cell_timer::begin() {
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

void cell_timer::start_again() {
  if (passes()) begin();
}

bool cell_timer::takes_part(bool others) const {
  if (!passes() || dropped_ || out_of_budget_) return false;
  return takes_sustained_turn() || std::ranges::any_of(kinds_, [&](const kind& k) {
           return !k.samples.out_of_time(rule_) &&
                  (!k.samples.precise(rule_) || (timed_.is_baseline && others));
         });
}

bool cell_timer::competes() const {
  return passes() && !timed_.is_baseline && !is_simulated() && !kinds_.front().samples.empty();
}

void cell_timer::take_turn(int round, double warmup_seconds) {
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

void cell_timer::measure_once() {
  const bool clocks_known = clocks_compared_ || worker_clock_.agrees();
  const bool all_done = clocks_known && (!how_.end_to_end || cell().end_to_end);
  const bool untimed = kinds_.front().samples.empty();  // the run's time was over
  if (!passes() || all_done || untimed) return;
  while_prepared([&] {
    if (!clocks_known) compare_clocks();
    if (how_.end_to_end && passes()) measure_end_to_end();
  });
}

void cell_timer::while_prepared(const std::function<void()>& work) {
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

void cell_timer::excuse_if_possible(const std::string& before) {
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

int cell_timer::samples_for(const kind& k) const {
  const int least = how_.samples_per_turn();
  if (k.last_ms <= 0 || is_simulated()) return least;
  return std::max(least, static_cast<int>(std::min(kMaxSamples, kSampledMs / k.last_ms)));
}

// `warmed_up`: the kernel's earlier runs in this turn.
void cell_timer::sample(kind& k, int round, int warmed_up, double warmup_seconds) {
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

bool cell_timer::takes_sustained_turn() const {
  return how_.power != results::power_mode::burst && passes() && !is_simulated() &&
         sustained_.size() < kSustainedTurns;
}

void cell_timer::sustain(int round) {
  const checks::sustained_turn turn = checks::take_sustained_turn(*timed_.candidate, round);
  fail_unless(turn.judgement, step::kTimed,
              "right when it ran once, wrong when it ran without pauses: ");
  if (!passes()) return;
  sustained_.push_back(turn);
  timed_.cell->conditions.add(turn.conditions);
}

// Runs the kernel on the judged inputs: its output must have the same bits. A fast kernel runs
// before each turn, any other only before its first. Returns the number of runs.
int cell_timer::compare_bits() {
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

void cell_timer::compare_clocks() {
  clocks_compared_ = true;
  if (passes() && !is_simulated())
    fail_unless(worker_clock_.compare(*timed_.candidate, kinds_.back().hot), step::kClock, "");
}

void cell_timer::measure_end_to_end() {
  const auto timed = checks::end_to_end(*timed_.candidate, how_.max_seconds);
  fail_unless(timed.judgement, step::kFresh, "wrong in memory that was just allocated: ");
  if (passes()) timed_.cell->end_to_end = timed.medians;
}

bool cell_timer::sees_neighbour() const {
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

void cell_timer::finish() {
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

timing::summary cell_timer::summarised(const kind& k) const {
  timing::summary s = k.samples.summarised(rule_);
  if (dropped_)
    s.stopped = timing::stop::slower;
  else if (out_of_budget_ && s.stopped != timing::stop::precise)
    s.stopped = timing::stop::budget;
  s.clock = timed_.clock;
  s.throttled = k.filter.discarded();
  s.low_clock = k.filter.low_clock();
  s.caches = k.hot ? timing::caches::hot : k.flushed ? timing::caches::cold : timing::caches::warm;
  return s;
}

void cell_timer::fail(verdict v, const std::string& reason, std::string_view step) {
  timed_.cell->verdict = v;
  timed_.cell->reason = reason;
  timed_.cell->check = step;
}

// `step`: the failed step if the judgement names none.
void cell_timer::fail_unless(const reference::judgement& j, std::string_view step,
                             const std::string& when) {
  if (j.right) return;
  timed_.cell->errors = j.errors;
  fail(verdict::wrong, when + j.reason, j.step == step::kResult ? step : j.step);
}

results::finding second_chance(std::string_view passes, const std::string& before,
                               const results::cell& failed) {
  return results::remark(
      results::kOwnWorker,
      fmt::format("{}; after {} in the same process it was {} ({}), so that one is suspect", passes,
                  before, name_of(failed.verdict), failed.reason));
}

}  // namespace kzoo::run
