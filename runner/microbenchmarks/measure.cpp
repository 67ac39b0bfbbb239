#include "microbenchmarks/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <thread>

namespace kzoo::microbenchmarks {
namespace {

// The repetitions that fill a sample's duration.
std::int64_t repetitions_of(const microbenchmark& b) {
  constexpr double kMostGrowth = 10;  // the first runs are slow, while the device raises its clocks
  std::int64_t repetitions = 1;
  for (;;) {
    const double seconds = std::max(b.run(repetitions).seconds, 1e-9);
    const double growth = b.sample_seconds / seconds;
    if (growth <= 1) return repetitions;
    repetitions = std::llround(std::ceil(double(repetitions) * std::min(growth, kMostGrowth)));
  }
}

// Whether several samples come close to the best, which then is no outlier of a shared device.
bool is_confirmed(const std::vector<roofline::pace>& samples) {
  constexpr std::ptrdiff_t kAgreeing = 3;
  constexpr double kNearly = 0.98;
  const double best = std::ranges::max_element(samples, {}, &roofline::pace::rate)->rate;
  return std::ranges::count_if(samples, [&](const roofline::pace& p) {
           return p.rate >= kNearly * best;
         }) >= kAgreeing;
}

}  // namespace

roofline::measured_peak measure(const microbenchmark& b, const schedule& how) {
  const std::int64_t repetitions = repetitions_of(b);
  for (double seconds = 0; seconds < how.warmup_seconds;) seconds += b.run(repetitions).seconds;

  roofline::measured_peak peak{b.resource, b.kernel, {}, 0, {}};
  const int enough = 2 * how.samples, most = 5 * enough;
  for (int i = 0; i < enough || (i < most && !is_confirmed(peak.samples)); ++i) {
    if (i >= how.samples) {
      std::this_thread::sleep_for(std::chrono::duration<double>(how.pause_seconds));
    }
    const run_time t = b.run(repetitions);
    peak.samples.push_back({b.amount * double(repetitions) / t.seconds, t.clock_mhz});
  }
  const auto [slowest, best] = std::ranges::minmax(peak.samples, {}, &roofline::pace::rate);
  peak.best = best;
  peak.spread = 1 - slowest.rate / best.rate;
  return peak;
}

roofline::peaks peaks_for(const results::device& d) {
  roofline::peaks peaks{d.name, {}, "", {}};
  for (const char* key : {"compute_capability", "multiprocessors", "l2_bytes", "max_clock_mhz",
                          "driver", "driver_supports_cuda", "threads"}) {
    if (const std::string fact = d.fact(key); !fact.empty()) peaks.facts[key] = fact;
  }
  return peaks;
}

}  // namespace kzoo::microbenchmarks
