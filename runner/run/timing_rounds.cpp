#include "run/timing_rounds.hpp"

#include "run/plan.hpp"
#include "timing/series.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <random>

namespace kzoo::run {
namespace {

using results::cache_mode;

// GPU clocks need time under load to come up: before the first turn of all, and where a process was
// started in between.
constexpr double kClockWarmupSeconds = 0.1;
// A kernel that takes longer is as warm as it gets while it runs.
constexpr double kWarmsItselfMs = 10;
// A turn takes some milliseconds before its first sample: so many more make short kernels precise.
constexpr double kSampledMs = 4;
constexpr double kMostSamples = 16;

// One racer with the samples that it has so far.
class candidate_timer {
 public:
  candidate_timer(timed_candidate& who, const problem& p, const results::timing_options& how)
      : who_(who),
        problem_(p),
        how_(how),
        rule_{how.rounds, how.max_relative_half_width, how.max_seconds} {
    const bool simulated = who.clock == timing::clock::simulator;
    // No precision makes a simulation's time that of a GPU, and a process for each turn is dear.
    if (simulated || how.fresh_processes)
      rule_.max_relative_half_width = std::numeric_limits<double>::infinity();
    const timing::throttle_filter filter(who.highest_mhz, how.min_samples);
    if (how.mode != cache_mode::hot || simulated) kinds_.push_back({false, filter});
    if (how.mode != cache_mode::cold && !simulated) kinds_.push_back({true, filter});
  }

  const results::cell& cell() const { return *who_.cell; }
  // `others`: somebody else takes part in the next round.
  bool takes_part(bool others) const {
    if (cell().verdict != verdict::pass) return false;
    return std::ranges::any_of(kinds_, [&](const kind& k) {
      return !k.samples.out_of_time(rule_) &&
             (!k.samples.precise(rule_) || (who_.is_baseline && others));
    });
  }

  void take_turn(int round, double warmup_seconds) {
    while_prepared([&] {
      for (kind& k : kinds_) {
        if (cell().verdict == verdict::pass && !k.samples.out_of_time(rule_))
          sample(k, round, warmup_seconds);
      }
    });
  }

  void finish() {
    if (cell().verdict == verdict::pass && how_.end_to_end) {
      while_prepared([&] { measure_end_to_end(); });
    }
    if (cell().verdict != verdict::pass) return;
    who_.cell->time = summarised(kinds_.front());
    if (kinds_.size() > 1) who_.cell->hot_time = summarised(kinds_.back());
  }

 private:
  struct kind {
    bool hot;
    timing::throttle_filter filter;
    timing::series samples{};
    bool flushed = false;
    double last_ms = 0;
  };

  template <class Work>
  void while_prepared(const Work& work) {
    if (how_.fresh_processes) who_.host->leave();
    try {
      who_.candidate->prepare(problem_);
      work();
      who_.candidate->finish();
    } catch (const failure& s) {
      fail(s.verdict, s.what());
    } catch (const std::exception& e) {
      fail(verdict::error, e.what());
    }
    // As after judging: what a kernel that fails has left behind is not the next one's.
    if (cell().verdict != verdict::pass) return who_.host->leave();
    release(*who_.host);
  }

  void sample(kind& k, int round, double warmup_seconds) {
    worker::sample_request how;
    how.warmup = k.last_ms < kWarmsItselfMs ? how_.warmup : 0;
    how.warmup_seconds = warmup_seconds;
    how.samples = samples_for(k);
    how.max_seconds = how_.max_seconds / how_.rounds;
    how.hot = k.hot;
    how.compare_clocks = k.samples.empty();
    const auto start = std::chrono::steady_clock::now();
    const checks::judged_samples timed = who_.candidate->sample(how, who_.judged, k.filter);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (!timed.judgement.right) {
      return fail(timed.judgement, "right when it ran once, wrong when it was timed: ");
    }
    // What a device or a process needs to get going costs nobody his rounds.
    const bool had_rested = how_.fresh_processes || warmup_seconds > 0;
    const double to_get_going = had_rested ? std::min(timed.warmup_seconds, took.count()) : 0;
    k.samples.add(round, timed.samples_ms, timed.sm_mhz, took.count() - to_get_going);
    k.flushed = timed.cold_cache;
    k.last_ms = timed.samples_ms.back();
    who_.cell->conditions.add(timed.conditions);
  }

  int samples_for(const kind& k) const {
    const int least = how_.samples_per_turn();
    if (k.last_ms <= 0 || who_.clock == timing::clock::simulator) return least;
    return std::max(least, static_cast<int>(std::min(kMostSamples, kSampledMs / k.last_ms)));
  }

  void measure_end_to_end() {
    const auto whole = who_.candidate->end_to_end(how_.max_seconds, who_.judged);
    if (!whole.judgement.right) {
      return fail(whole.judgement, "wrong in memory that was just allocated: ");
    }
    who_.cell->end_to_end = whole.medians;
  }

  timing::summary summarised(const kind& k) const {
    timing::summary s = k.samples.summarised(rule_);
    s.clock = who_.clock;
    s.throttled = k.filter.discarded();
    s.low_clock = k.filter.low_clock();
    s.caches = k.hot       ? timing::caches::hot
               : k.flushed ? timing::caches::cold
                           : timing::caches::warm;
    return s;
  }

  void fail(const reference::judgement& j, const std::string& when) {
    who_.cell->errors = j.errors;
    fail(verdict::wrong, when + j.reason);
  }
  void fail(verdict v, const std::string& reason) {
    who_.cell->verdict = v;
    who_.cell->reason = reason;
  }

  timed_candidate& who_;
  const problem& problem_;
  const results::timing_options& how_;
  timing::stop_rule rule_;
  std::vector<kind> kinds_;
};

// Those who take part in the next round.
std::vector<candidate_timer*> starters(std::vector<candidate_timer>& all) {
  const bool others =
      std::ranges::any_of(all, [](const candidate_timer& l) { return l.takes_part(false); });
  std::vector<candidate_timer*> chosen;
  for (candidate_timer& l : all)
    if (l.takes_part(others)) chosen.push_back(&l);
  return chosen;
}

}  // namespace

void run_rounds(const problem& p, const results::timing_options& how,
                std::span<timed_candidate> timed_candidates, int first_round,
                const turn_observer& watch) {
  std::vector<candidate_timer> timers;
  for (timed_candidate& r : timed_candidates) timers.emplace_back(r, p, how);
  // Another order in each run: what an order does to a kernel is not to look like its own speed.
  std::mt19937_64 random(std::random_device{}());
  for (int round = first_round;; ++round) {
    std::vector<candidate_timer*> now = starters(timers);
    if (now.empty()) break;
    std::ranges::shuffle(now, random);
    for (candidate_timer* l : now) {
      watch(round, l->cell());
      const bool gpu = timed_candidates.front().clock == timing::clock::gpu;
      const bool has_rested = how.fresh_processes || (round == first_round && l == now.front());
      l->take_turn(round, gpu && has_rested ? kClockWarmupSeconds : 0);
    }
  }
  for (candidate_timer& l : timers) l.finish();
}

}  // namespace kzoo::run
