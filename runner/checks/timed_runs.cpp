#include "checks/timed_runs.hpp"

#include "os/posix.hpp"

#include <algorithm>
#include <chrono>
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

judged_samples sample(candidate& c, worker::sample_request how, std::vector<std::uint64_t>& judged,
                      timing::throttle_filter& filter) {
  // A kernel may give a new result in each run. So many are judged each; then about kLooks in a
  // turn, at random, so that it cannot know which.
  constexpr std::size_t kMaxJudged = 8;
  constexpr int kLooks = 4;
  constexpr std::chrono::milliseconds kToRecover{50};  // pause after throttling
  how.output = c.judge().wanted(c.prepared());
  judged_samples all;
  all.judgement.right = true;
  const int wanted_samples = how.samples;
  std::random_device random;
  for (;;) {
    how.output.known = judged;
    how.any_output = judged.size() > kMaxJudged;
    if (how.any_output) {
      const int most_unjudged = std::max(1, 2 * wanted_samples / kLooks);
      how.samples = std::min(how.samples, std::uniform_int_distribution(1, most_unjudged)(random));
    }
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
    all.judgement = c.judge().judge_timed(c.prepared(), report.output, report.changed);
    if (!report.output.known && !how.any_output && all.judgement.right)
      judged.push_back(report.output.digest);
    how.samples = wanted_samples - static_cast<int>(all.samples_ms.size());
    if (!all.judgement.right || how.samples <= 0 || how.max_seconds <= 0) return all;
    if (!all_count) std::this_thread::sleep_for(kToRecover);
    how.warmup = 0;
  }
}

judged_end_to_end end_to_end(candidate& c, double max_seconds, std::vector<std::uint64_t>& judged) {
  constexpr int kRuns = 5;  // so that the cold first run does not determine the median
  worker::output_request output = c.judge().wanted(c.prepared());
  judged_end_to_end all;
  std::vector<timing::end_to_end> runs;
  double seconds = 0;
  // Whichever addresses an instance keeps, those of its first call, with the worker's own matrices,
  // are not those that an allocator gives later.
  c.run_unjudged();
  do {
    output.known = judged;
    const worker::end_to_end_report report = c.client().end_to_end(output);
    all.judgement = c.judge().judge(c.prepared(), report.output);
    if (!all.judgement.right) return all;
    if (!report.output.known) judged.push_back(report.output.digest);
    runs.push_back(report.times);
    seconds += report.times.total_ms() / 1000;
  } while (runs.size() < kRuns && seconds < max_seconds);
  all.medians = timing::medians(runs);
  return all;
}

}  // namespace kzoo::checks
