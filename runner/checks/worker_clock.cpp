#include "checks/worker_clock.hpp"

#include "os/posix.hpp"

#include <fmt/format.h>

namespace kzoo::checks {
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
