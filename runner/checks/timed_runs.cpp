#include "checks/timed_runs.hpp"

#include "os/posix.hpp"

#include <fmt/format.h>

#include <chrono>
#include <optional>
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

judged_samples sample(candidate& c, worker::sample_request how, timing::throttle_filter& filter) {
  constexpr std::chrono::milliseconds kToRecover{50};  // pause after throttling
  judged_samples all;
  const int wanted_samples = how.samples;
  // Measures errors of one random sample: no kernel can be more precise only there.
  std::optional<kept_rows> measured;
  if (c.is_unmeasured() && how.samples > 1) {
    std::random_device random;
    how.samples = std::uniform_int_distribution(1, how.samples)(random);
  }
  for (bool is_over = false; !is_over;) {
    how.least_mhz = filter.least_mhz();
    const double sent = steady_seconds();
    const worker::sample_report report = c.client().sample(how);
    all.runner_seconds += steady_seconds() - sent;
    all.worker_seconds += report.total_seconds;
    how.max_seconds -= report.seconds;
    if (all.samples_ms.empty() && how.max_seconds <= 0) filter.accept_all();  // at least one sample
    const bool all_count = add_samples(report, c.who().monitor, filter, all);
    all.cold_cache = report.cold_cache;
    all.warmup_seconds += report.warmup_seconds;
    all.judgement = c.judge().judge(c.prepared(), report.judged);
    check_tampering(c.prepared(), report.changed, all.judgement);
    if (c.is_unmeasured() && !measured && all.judgement.right)
      measured = c.judge().keep_rows(c.prepared(), report.judged);
    how.samples = wanted_samples - static_cast<int>(all.samples_ms.size());
    is_over = !all.judgement.right || how.samples <= 0 || how.max_seconds <= 0;
    if (!is_over && !all_count) std::this_thread::sleep_for(kToRecover);
    how.warmup = 0;
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
  worker::sample_request how;
  how.hot = hot;
  how.max_seconds = kEnoughSeconds;
  reference::judgement j;
  j.step = step::kClock;
  for (int slow = 0; slow < kTries;) {
    const double sent = steady_seconds();
    const double workers = c.client().sample(how).total_seconds;
    const double ours = steady_seconds() - sent;
    j.right = ours <= kMostClockRatio * workers;
    const bool is_long = ours >= kEnoughSeconds;
    if (j.right && is_long) return j;
    if (how.samples < kMostSamples) {
      how.samples *= 4;
      if (is_long) how.max_seconds = kLongestSeconds;
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

}  // namespace kzoo::checks
