#include "run/timing_rounds.hpp"

#include "checks/sustained_turn.hpp"
#include "data/matrix.hpp"
#include "run/leaks.hpp"
#include "run/neighbours.hpp"
#include "run/plan.hpp"
#include "timing/bootstrap.hpp"
#include "timing/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <random>
#include <string>

namespace kzoo::run {
namespace {

using results::cache_mode;

// GPU clocks need time under load to ramp up: before the first turn, and after a process was
// started in between.
constexpr double kClockWarmupSeconds = 0.1;
// A kernel that takes longer needs no warm-up runs.
constexpr double kWarmsItselfMs = 10;
// The set-up of a turn takes milliseconds anyway, so sample short kernels for as long.
constexpr double kSampledMs = 4;
constexpr double kMaxSamples = 16;
// Each takes seconds.
constexpr int kSustainedTurns = 3;

// In every second round a kernel is timed once more, on data that it has not seen. Where it is
// slower there by more than this factor, the two are compared under the same conditions.
constexpr double kMostUnseenRatio = 1.2;

// When and on what a candidate is tested beside its samples.
struct random_choices {
  int first_round, clock_round;  // clock_round: at random, in which the two clocks are compared
  std::uint64_t unseen_seed;     // of the contents on which all candidates are judged once more
};

// Whether a worker's clock is as fast as the runner's while samples are taken. A turn of a short
// kernel tells nothing: most of it is messages between the two.
class clock_comparison {
 public:
  void add(const checks::judged_samples& turn) {
    const std::size_t count = turn.samples_ms.size();
    samples_ += count;
    if (turn.runner_seconds <= checks::kMostClockRatio * turn.worker_seconds) agreeing_ += count;
  }
  // The median of all samples is hardly affected by a quarter of them.
  bool agrees() const { return samples_ > 0 && 4 * agreeing_ >= 3 * samples_; }

 private:
  std::size_t samples_ = 0, agreeing_ = 0;
};

// Times one candidate over the rounds, and keeps its samples.
class candidate_timer {
 public:
  candidate_timer(timed_candidate& who, const problem& p, const results::timing_options& how,
                  const memory_need& needed, const random_choices& random)
      : who_(who),
        problem_(p),
        how_(how),
        memory_needed_(needed),
        random_(random),
        rule_{how.rounds, how.max_relative_half_width, how.max_seconds} {
    // A simulator's times need no precision, and a new process for each turn is expensive.
    if (who.clock == timing::clock::simulator || how.fresh_processes)
      rule_.max_relative_half_width = std::numeric_limits<double>::infinity();
    begin();
  }

  const results::cell& cell() const { return *who_.cell; }
  const client::plugin_client* client() const { return who_.client; }
  bool is_right_so_far() const { return cell().verdict == verdict::pass && !alone_; }
  // Whether it needs another round. `others`: some other candidate does.
  bool takes_part(bool others) const {
    if (cell().verdict != verdict::pass) return false;
    return takes_sustained_turn() || std::ranges::any_of(kinds_, [&](const kind& k) {
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
      if (takes_sustained_turn()) sustain(round);
      if ((round - random_.first_round) % 2 == 0) time_unseen(round);  // leaves other contents
      if (round == random_.clock_round && !clocks_.agrees()) compare_clocks();
    });
  }

  // The measurements that are made once, after the rounds. It may need more rounds afterwards.
  void measure_once() {
    const bool is_suspect = seems_to_keep_results();
    const bool clocks_known = clocks_compared_ || clocks_.agrees();
    const bool all_done = clocks_known && (!how_.end_to_end || cell().end_to_end);
    if (cell().verdict != verdict::pass || (all_done && !is_suspect)) return;
    while_prepared([&] {
      if (!clocks_known) compare_clocks();
      if (is_suspect && cell().verdict == verdict::pass) compare_with_unseen();
      if (how_.end_to_end && cell().verdict == verdict::pass) measure_end_to_end();
    });
  }

  // Whether another process uses the device, just before its turn.
  bool sees_neighbour() const {
    constexpr double kMostPauseMs = 0.2;
    constexpr int kTimes = 2;  // the driver may pause a kernel now and then
    try {
      for (int i = 0; i < kTimes; ++i)
        if (who_.client->longest_pause_ms(cell().device) < kMostPauseMs) return false;
    } catch (const failure&) {
      return false;  // its turn will tell
    }
    return true;
  }
  void blame(const std::string& reason) { fail(verdict::wrong, reason); }
  bool is_on_gpu() const { return who_.clock == timing::clock::gpu; }
  client::plugin_client* client() { return who_.client; }

  // Discards what it has measured, in a process that another kernel may have changed.
  void start_again() {
    if (cell().verdict == verdict::pass) begin();
  }

  void finish() {
    if (cell().verdict != verdict::pass) return;
    const auto leak = leaks_.found();
    if (leak && leak->is_large) return fail(verdict::wrong, leak->words);
    if (leak)
      who_.cell->findings.push_back(
          {std::string(results::kMemory), results::outcome::pass, leak->words, {}});
    if (!limits_.empty())
      who_.cell->findings.push_back({std::string(results::kLimits),
                                     results::outcome::pass,
                                     "changes limits that other kernels of its process share: " +
                                         limits_ + "; they are set back after each turn",
                                     {}});
    if (alone_) who_.cell->findings.push_back(excuse_);
    who_.cell->time = summarised(kinds_.front());
    if (kinds_.size() > 1) who_.cell->hot_time = summarised(kinds_.back());
    if (!sustained_.empty()) who_.cell->sustained = checks::summarised(sustained_, who_.clock);
    if (how_.power == results::power_mode::sustained && who_.cell->sustained)
      who_.cell->time = who_.cell->sustained->time;
  }

 private:
  void begin() {
    const bool simulated = who_.clock == timing::clock::simulator;
    const timing::throttle_filter filter(who_.highest_mhz, how_.min_samples);
    kinds_.clear();
    if (how_.mode != cache_mode::hot || simulated) kinds_.push_back({false, filter});
    if (how_.mode != cache_mode::cold && !simulated) kinds_.push_back({true, filter});
    unseen_ms_.clear();
    unseen_rounds_.clear();
    sustained_.clear();
    clocks_ = {};
    clocks_compared_ = false;
    who_.cell->end_to_end.reset();
  }

  // What ran before in the same process may be the reason why it failed: it gets a second chance,
  // with a new process for each turn.
  void excuse_if_possible(const std::string& before) {
    const bool may_be_excused = is_failure(cell().verdict) && cell().verdict != verdict::hung;
    if (!may_be_excused || alone_ || before.empty()) return;
    alone_ = true;
    excuse_ = {std::string(results::kOwnWorker),
               results::outcome::pass,
               fmt::format("timed in processes of its own; after {} in the same process it was {} "
                           "({}), so that one is suspect",
                           before, verdict_name(cell().verdict), cell().reason),
               {}};
    try {
      // One that fails now and then is not excused.
      if (!who_.candidate->repeat(who_.judged).right) return who_.client->leave();
    } catch (const failure&) {
      return who_.client->leave();
    }
    who_.cell->verdict = verdict::pass;
    who_.cell->reason.clear();
    who_.cell->errors.reset();
    begin();
  }

  struct kind {
    bool hot;
    timing::throttle_filter filter;
    timing::series samples{};
    bool flushed = false;
    double last_ms = 0;
  };

  void release_all() {
    const std::optional<worker::memory_report> kept = release(*who_.client, memory_needed_);
    leaks_.add(kept, memory_needed_.bytes);
    if (kept && !kept->limits.empty()) limits_ = kept->limits;
  }

  template <class Work>
  void while_prepared(const Work& work) {
    if (how_.fresh_processes || alone_) who_.client->leave();
    const std::string before = who_.candidate->ran_before();
    try {
      who_.candidate->prepare(problem_);
      work();
      who_.candidate->finish();
    } catch (const failure& f) {
      fail(f.verdict, f.what());
    } catch (const std::exception& e) {
      fail(verdict::error, e.what());
    }
    if (cell().verdict == verdict::pass) return release_all();
    // As after judging: what a failing kernel leaves behind must not affect the next one.
    who_.client->leave();
    excuse_if_possible(before);
  }

  void sample(kind& k, int round, double warmup_seconds) {
    worker::sample_request how;
    how.warmup = k.last_ms < kWarmsItselfMs ? how_.warmup : 0;
    how.warmup_seconds = warmup_seconds;
    how.samples = samples_for(k);
    how.max_seconds = how_.max_seconds / how_.rounds;
    how.hot = k.hot;
    const auto start = std::chrono::steady_clock::now();
    const checks::judged_samples timed = who_.candidate->sample(how, who_.judged, k.filter);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (!timed.judgement.right) {
      return fail(timed.judgement, "right when it ran once, wrong when it was timed: ");
    }
    // Warm-up of an idle device or a new process does not count against the time limit.
    const bool was_idle = how_.fresh_processes || warmup_seconds > 0;
    const double warmup_time = was_idle ? std::min(timed.warmup_seconds, took.count()) : 0;
    clocks_.add(timed);
    k.samples.add(round, timed.samples_ms, timed.sm_mhz, took.count() - warmup_time);
    k.flushed = timed.cold_cache;
    k.last_ms = timed.samples_ms.back();
    who_.cell->conditions.add(timed.conditions);
  }

  bool takes_sustained_turn() const {
    return how_.power != results::power_mode::burst && cell().verdict == verdict::pass &&
           who_.clock != timing::clock::simulator && sustained_.size() < kSustainedTurns;
  }

  void sustain(int round) {
    const checks::sustained_turn turn =
        checks::take_sustained_turn(*who_.candidate, who_.judged, round);
    if (!turn.judgement.right)
      return fail(turn.judgement, "right when it ran once, wrong when it ran without pauses: ");
    sustained_.push_back(turn);
    who_.cell->conditions.add(turn.conditions);
  }

  // A kernel that keeps results has nothing to gain here.
  void time_unseen(int round) {
    const kind& k = kinds_.front();
    if (cell().verdict != verdict::pass || who_.clock == timing::clock::simulator ||
        k.samples.out_of_time(rule_)) {
      return;
    }
    const bool judged = unseen_ms_.empty();
    const std::uint64_t seed =
        judged ? random_.unseen_seed : data::hash(random_.unseen_seed, round);
    const checks::unseen_run run = who_.candidate->time_unseen(seed & INT64_MAX, k.hot, judged);
    if (!run.judgement.right) return fail(run.judgement, "wrong on data that it had not seen: ");
    unseen_ms_.push_back(run.ms);
    unseen_rounds_.push_back(round);
  }

  // Whether it is slower on unseen data than in its samples, which may have other reasons: a worker
  // that has just been woken, for example.
  bool seems_to_keep_results() const {
    if (unseen_ms_.empty() || kinds_.front().samples.empty() || kinds_.front().hot) return false;
    const timing::ratio slower =
        timing::paired_ratio(timing::summarise_without_interval(unseen_ms_, unseen_rounds_),
                             kinds_.front().samples.summarised(rule_));
    return slower.likely && slower.likely->low > kMostUnseenRatio;
  }

  // Runs twice on new data, which is written again before the second run: only then it has seen it.
  void compare_with_unseen() {
    constexpr int kPairs = 20, kFewestPairs = 5;
    const auto start = std::chrono::steady_clock::now();
    const auto out_of_time = [&] {
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      return took.count() > how_.max_seconds;
    };
    std::vector<double> unseen, seen;
    std::vector<int> pairs;
    for (int pair = 0; pair < kPairs && (pair < kFewestPairs || !out_of_time()); ++pair) {
      pairs.push_back(pair);
      const std::uint64_t seed = data::hash(~random_.unseen_seed, pair) & INT64_MAX;
      for (std::vector<double>* times : {&unseen, &seen})
        times->push_back(who_.candidate->time_unseen(seed, false, false).ms);
    }
    const timing::ratio slower =
        timing::paired_ratio(timing::summarise_without_interval(unseen, pairs),
                             timing::summarise_without_interval(seen, pairs));
    if (!slower.likely || slower.likely->low <= kMostUnseenRatio) return;
    fail(verdict::wrong,
         fmt::format("takes {:.3g} times as long on data that it has not seen: it keeps results",
                     slower.value));
  }

  void compare_clocks() {
    clocks_compared_ = true;
    const kind& k = kinds_.back();
    if (cell().verdict != verdict::pass || who_.clock == timing::clock::simulator) return;
    const reference::judgement same = who_.candidate->compare_clocks(k.hot);
    if (!same.right) fail(same, "");
  }

  int samples_for(const kind& k) const {
    const int least = how_.samples_per_turn();
    if (k.last_ms <= 0 || who_.clock == timing::clock::simulator) return least;
    return std::max(least, static_cast<int>(std::min(kMaxSamples, kSampledMs / k.last_ms)));
  }

  void measure_end_to_end() {
    const auto timed = who_.candidate->end_to_end(how_.max_seconds, who_.judged);
    if (!timed.judgement.right) {
      return fail(timed.judgement, "wrong in memory that was just allocated: ");
    }
    who_.cell->end_to_end = timed.medians;
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
  const memory_need& memory_needed_;
  random_choices random_;
  clock_comparison clocks_;
  bool clocks_compared_ = false, alone_ = false;
  results::finding excuse_;
  std::vector<double> unseen_ms_;  // of each time_unseen()
  std::vector<int> unseen_rounds_;
  timing::stop_rule rule_;
  std::vector<kind> kinds_;
  std::vector<checks::sustained_turn> sustained_;
  leaks leaks_;
  std::string limits_;  // of the device that it changed
};

// Those that take part in the next round.
std::vector<candidate_timer*> participants(std::vector<candidate_timer>& all) {
  const bool others =
      std::ranges::any_of(all, [](const candidate_timer& t) { return t.takes_part(false); });
  std::vector<candidate_timer*> chosen;
  for (candidate_timer& t : all)
    if (t.takes_part(others)) chosen.push_back(&t);
  return chosen;
}

}  // namespace

void run_rounds(const problem& p, const results::timing_options& how,
                std::span<timed_candidate> timed_candidates, int first_round,
                const memory_need& needed, const turn_observer& watch) {
  // A new order in each round and each run, so that effects of the order average out.
  std::mt19937_64 random(std::random_device{}());
  std::uniform_int_distribution<int> clock_round(first_round, first_round + how.rounds - 1);
  std::vector<candidate_timer> timers;
  const std::uint64_t unseen_seed = random();
  for (timed_candidate& t : timed_candidates)
    timers.emplace_back(t, p, how, needed,
                        random_choices{first_round, clock_round(random), unseen_seed});
  // Calls take(), which lets `t` run in its process.
  const auto in_its_process = [&](candidate_timer& t, const auto& take) {
    const bool was_right = t.is_right_so_far();
    take();
    if (!was_right || t.is_right_so_far()) return;
    // It disturbed its process, or was disturbed in it, and so may the others of its plugin be.
    for (candidate_timer& other : timers)
      if (other.client() == t.client()) other.start_again();
  };
  neighbour_watch neighbours;
  // Looks for a worker that keeps the GPU busy though it is stopped.
  const auto look = [&](candidate_timer& next) {
    if (!next.is_on_gpu()) return;
    const auto end_workers = [&] {
      for (candidate_timer& other : timers)
        if (other.client() != next.client()) other.client()->leave();
    };
    const auto guilty =
        neighbours.look(next.client(), {[&] { return next.sees_neighbour(); }, end_workers});
    if (!guilty) return;
    for (candidate_timer& each : timers) {
      if (each.client() == guilty->process) each.client()->leave();
      if (guilty->kernels.contains(&each))
        each.blame("keeps the GPU busy after its turn, when others are timed");
    }
    for (candidate_timer& each : timers) each.start_again();
  };
  for (int round = first_round;;) {
    std::vector<candidate_timer*> now = participants(timers);
    if (now.empty()) {
      for (candidate_timer& t : timers) in_its_process(t, [&] { t.measure_once(); });
      if (participants(timers).empty()) break;
      continue;
    }
    std::ranges::shuffle(now, random);
    neighbours.begin_round(std::vector<neighbour_watch::kernel>(now.begin(), now.end()), how.rounds,
                           random);
    for (candidate_timer* t : now) {
      if (t->cell().verdict != verdict::pass) continue;
      watch(round, t->cell());
      look(*t);
      const bool gpu = timed_candidates.front().clock == timing::clock::gpu;
      const bool is_idle = how.fresh_processes || (round == first_round && t == now.front());
      in_its_process(*t, [&] { t->take_turn(round, gpu && is_idle ? kClockWarmupSeconds : 0); });
      neighbours.had_turn(t->client(), t);
    }
    ++round;
  }
  for (candidate_timer& t : timers) t.finish();
}

}  // namespace kzoo::run
