#include "checks/timed_runs.hpp"

#include "devices/nvml.hpp"
#include "os/posix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>
#include <thread>

namespace kzoo::checks {
namespace {

// Adds the samples that the filter accepts; returns whether it accepts all.
bool add_samples(const worker::sample_report& report, const devices::nvml* monitor,
                 timing::throttle_filter& filter, judged_samples& all) {
  const results::conditions now = monitor != nullptr ? monitor->read() : results::conditions{};
  all.conditions.add(now);
  const int discarded_before = filter.discarded();
  for (std::size_t i = 0; i < report.samples_ms.size(); ++i) {
    if (!filter.accepts({report.sm_mhz[i], now.slowed_down(), now.power_capped()})) continue;
    all.samples_ms.push_back(report.samples_ms[i]);
    all.sm_mhz.push_back(report.sm_mhz[i]);
  }
  return filter.discarded() == discarded_before;
}

}  // namespace

judged_samples sample(candidate& c, worker::sample_request request,
                      timing::throttle_filter& filter) {
  constexpr std::chrono::milliseconds kToRecover{50};  // pause after throttling
  judged_samples all;
  const int wanted_samples = request.samples;
  // Measures errors of one random sample: no kernel can be more precise only there.
  std::optional<kept_rows> measured;
  if (c.is_unmeasured() && request.samples > 1) {
    std::random_device random;
    request.samples = std::uniform_int_distribution(1, request.samples)(random);
  }
  for (bool is_over = false; !is_over;) {
    request.least_mhz = filter.least_mhz();
    const double sent = steady_seconds();
    const worker::sample_report report = c.client().sample(request);
    all.runner_seconds += steady_seconds() - sent;
    all.worker_seconds += report.total_seconds;
    request.max_seconds -= report.seconds;
    if (all.samples_ms.empty() && request.max_seconds <= 0)
      filter.accept_all();  // at least one sample
    const bool all_count = add_samples(report, c.who().monitor, filter, all);
    all.cold_cache = report.cold_cache;
    all.warmup_seconds += report.warmup_seconds;
    all.judgement = c.judge().judge(c.prepared(), report.judged);
    check_tampering(c.prepared(), report.changed, all.judgement);
    if (c.is_unmeasured() && !measured && all.judgement.right)
      measured = c.judge().keep_rows(c.prepared(), report.judged);
    request.samples = wanted_samples - static_cast<int>(all.samples_ms.size());
    is_over = !all.judgement.right || request.samples <= 0 || request.max_seconds <= 0;
    if (!is_over && !all_count) std::this_thread::sleep_for(kToRecover);
    request.warmup = 0;
  }
  if (!measured || !all.judgement.right) return all;
  if (const reference::judgement found = c.judge().judge(*measured); !found.right)
    all.judgement.refuse(found.step, "in a timed run " + found.reason);
  c.note_measured();
  return all;
}

judged_end_to_end end_to_end(candidate& c, double max_seconds) {
  constexpr int kRuns = 5;  // so that the cold first run does not determine the median
  judged_end_to_end all;
  std::vector<timing::end_to_end> runs;
  double seconds = 0;
  // A first call with other addresses: an instance that keeps them then fails.
  all.judgement = c.run_fresh();
  while (all.judgement.right && runs.size() < kRuns && (runs.empty() || seconds < max_seconds)) {
    const worker::end_to_end_report report = c.client().end_to_end();
    all.judgement = c.judge().judge(c.prepared(), report.judged);
    runs.push_back(report.times);
    seconds += report.times.total_ms() / 1000;
  }
  if (all.judgement.right) all.medians = timing::medians(runs);
  return all;
}

namespace {

// Largest allowed ratio of the runner's time to the worker's.
constexpr double kMostClockRatio = 1.5;

}  // namespace

void worker_clock::add(const judged_samples& turn) {
  const std::size_t count = turn.samples_ms.size();
  samples_ += count;
  if (turn.runner_seconds <= kMostClockRatio * turn.worker_seconds) agreeing_ += count;
}

reference::judgement worker_clock::compare(candidate& c, bool hot) {
  // Long compared with this process's waiting on a busy machine; longer if that is not enough.
  constexpr double kEnoughSeconds = 0.05, kLongestSeconds = 0.2;
  constexpr int kMostSamples = 4096, kTries = 5;  // other load on the machine varies
  worker::sample_request request;
  request.hot = hot;
  request.max_seconds = kEnoughSeconds;
  reference::judgement j;
  j.step = step::kClock;
  for (int slow = 0; slow < kTries;) {
    const double sent = steady_seconds();
    const double workers = c.client().sample(request).total_seconds;
    const double ours = steady_seconds() - sent;
    j.right = ours <= kMostClockRatio * workers;
    const bool is_long = ours >= kEnoughSeconds;
    if (j.right && is_long) return j;
    if (request.samples < kMostSamples) {
      request.samples *= 4;
      if (is_long) request.max_seconds = kLongestSeconds;
      continue;
    }
    if (j.right) return j;
    ++slow;
    j.reason = fmt::format(
        "the worker's clock is wrong: {:.3g} ms are {:.3g} ms by the runner's; did the plugin tamper "
        "with it?",
        1000 * workers, 1000 * ours);
  }
  return j;
}

namespace {

constexpr double kStepSeconds = 0.5, kCountedSeconds = 2, kMostSettleSeconds = 10;
// Factor for all times if the device's power cannot be read.
constexpr double kWithoutPower = 0.2;
constexpr double kSameTime = 0.01, kSamePower = 0.03;

bool is_near(double a, double b, double within) {
  return std::abs(a - b) <= within * std::max(a, b);
}

// Runs without pauses; the last was judged.
struct judged_repetition {
  reference::judgement judgement;
  double ms = 0;                              // mean of one run
  double begin_seconds = 0, end_seconds = 0;  // by the machine's steady clock
};

// Judges by the device alone: some rows had inverted signs, which the reference does not know.
reference::judgement judge(const worker::judged_report& last) {
  reference::judgement j;
  j.right = last.right;
  if (last.survey.unwritten > 0) {
    j.reason = fmt::format("{} elements of C are not written", last.survey.unwritten);
  } else if (last.survey.outside > 0) {
    j.reason = fmt::format("written outside C: {} words changed", last.survey.outside);
  } else {
    j.reason = fmt::format(
        "{} rows of C are not those of its A and B, row {} among them: a result kept from an "
        "earlier call?",
        std::max<std::int64_t>(1, last.wrong_rows), last.row);
  }
  return j;
}

judged_repetition run_for(candidate& c, double seconds) {
  const double sent = steady_seconds();
  const worker::sustain_report report = c.client().sustain({seconds});
  const double returned = steady_seconds();
  judged_repetition all{judge(report.judged), report.ms / static_cast<double>(report.runs),
                        report.begin_seconds, report.end_seconds};
  check_tampering(c.prepared(), report.changed, all.judgement);
  // The runs take most of the time between request and reply.
  const bool in_time = report.begin_seconds >= sent && report.end_seconds <= returned &&
                       report.ms / 1000 <= returned - sent;
  if (all.judgement.right && !in_time)
    all.judgement.refuse(step::kClock,
                         "the worker's clock is wrong: did the plugin tamper with it?");
  return all;
}

// Detects a kernel that keeps its C and corrects only the changed rows: it would be faster here
// than in single runs, which all have other numbers. CPU threads may also have to wake up for
// single runs. The fastest single run counts. Before blaming a kernel, takes more runs over more
// time, since others may have used the device.
reference::judgement compare_with_single_runs(candidate& c, double ms) {
  constexpr double kLeastRatio = 0.85, kLaunchMs = 0.005, kWakeMs = 0.1;
  constexpr int kFewest = 5, kMost = 80;
  constexpr std::chrono::milliseconds kPause{100};
  const double slack = c.who().device == "cpu" ? kWakeMs : kLaunchMs;
  double fastest = std::numeric_limits<double>::infinity();
  worker::sample_request hot;
  hot.max_seconds = 1;
  hot.hot = true;
  for (hot.samples = kFewest;; hot.samples *= 2) {
    timing::throttle_filter all(0, hot.samples);
    judged_samples single = sample(c, hot, all);
    if (!single.judgement.right) return single.judgement;
    fastest = std::min(fastest, std::ranges::min(single.samples_ms));
    if (ms >= kLeastRatio * fastest - slack) return single.judgement;
    if (hot.samples >= kMost) {
      single.judgement.refuse(step::kKept,
                              fmt::format("takes {:.3g} ms, and {:.3g} ms where all numbers are "
                                          "others in each run: it keeps results",
                                          ms, fastest));
      return single.judgement;
    }
    std::this_thread::sleep_for(kPause);
  }
}

// The mean over all turns; nothing if a turn lacks it.
template <class Of>
std::optional<double> mean(std::span<const sustained_turn> turns, const Of& of) {
  double sum = 0;
  for (const sustained_turn& t : turns) {
    if (!of(t)) return std::nullopt;
    sum += *of(t);
  }
  return sum / static_cast<double>(turns.size());
}

}  // namespace

sustained_turn take_sustained_turn(candidate& c, int round) {
  static const devices::nvml kNone("");
  const devices::nvml& monitor = c.who().monitor != nullptr ? *c.who().monitor : kNone;
  const devices::power_meter meter(monitor);
  const double scale = monitor.absent() ? kWithoutPower : 1;
  sustained_turn turn;
  turn.round = round;
  double last_ms = 0, last_watts = 0;
  while (!turn.settled && turn.settle_seconds < scale * kMostSettleSeconds) {
    const judged_repetition step = run_for(c, scale * kStepSeconds);
    turn.judgement = step.judgement;
    if (!turn.judgement.right) return turn;
    turn.settle_seconds += step.end_seconds - step.begin_seconds;
    const double watts = meter.between(step.begin_seconds, step.end_seconds).watts.value_or(0);
    turn.settled = is_near(step.ms, last_ms, kSameTime) && is_near(watts, last_watts, kSamePower);
    last_ms = step.ms;
    last_watts = watts;
  }
  const judged_repetition counted = run_for(c, scale * kCountedSeconds);
  turn.judgement = counted.judgement;
  turn.ms = counted.ms;
  if (turn.judgement.right) turn.judgement = compare_with_single_runs(c, turn.ms);
  turn.conditions = monitor.read();
  const devices::power_use use = meter.between(counted.begin_seconds, counted.end_seconds);
  turn.watts = use.watts;
  // The driver's value is itself a mean over about a second.
  const double half = (counted.begin_seconds + counted.end_seconds) / 2;
  turn.reported_watts = meter.between(half, counted.end_seconds).reported_watts;
  turn.counter_seconds = use.counter_seconds;
  if (!use.watts) turn.no_energy = monitor.absent().value_or("the driver has no energy counter");
  return turn;
}

results::sustained summarised(std::span<const sustained_turn> turns, timing::clock clock) {
  results::sustained all;
  std::vector<double> ms;
  std::vector<int> rounds;
  all.watts = mean(turns, [](const sustained_turn& t) { return t.watts; });
  all.reported_watts = mean(turns, [](const sustained_turn& t) { return t.reported_watts; });
  for (const sustained_turn& t : turns) {
    ms.push_back(t.ms);
    rounds.push_back(t.round);
    all.settled = all.settled && t.settled;
    all.settle_seconds = std::max(all.settle_seconds, t.settle_seconds);
    all.counter_seconds = std::max(all.counter_seconds, t.counter_seconds);
    if (all.no_energy.empty()) all.no_energy = t.no_energy;
  }
  all.time = timing::summarise(ms, rounds);
  all.time.clock = clock;
  all.time.caches = timing::caches::hot;
  return all;
}

}  // namespace kzoo::checks
