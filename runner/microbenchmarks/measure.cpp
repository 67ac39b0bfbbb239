#include "microbenchmarks/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <thread>

namespace kzoo::microbenchmarks {
namespace {

// So many that a sample takes as long as the load asks for.
std::int64_t repetitions_of(const microbenchmark& l) {
  constexpr double kMostGrowth = 10;  // the first samples see a device that wakes up
  std::int64_t repetitions = 1;
  for (;;) {
    const double seconds = std::max(l.run(repetitions).seconds, 1e-9);
    const double growth = l.sample_seconds / seconds;
    if (growth <= 1) return repetitions;
    repetitions = std::llround(std::ceil(double(repetitions) * std::min(growth, kMostGrowth)));
  }
}

// Not the one good moment of a device that others use too.
bool is_confirmed(const std::vector<roofline::pace>& samples) {
  constexpr std::ptrdiff_t kAgreeing = 3;
  constexpr double kNearly = 0.98;
  const double best = std::ranges::max_element(samples, {}, &roofline::pace::rate)->rate;
  return std::ranges::count_if(samples, [&](const roofline::pace& p) {
           return p.rate >= kNearly * best;
         }) >= kAgreeing;
}

}  // namespace

roofline::measured_peak measure(const microbenchmark& l, const schedule& how) {
  const std::int64_t repetitions = repetitions_of(l);
  for (double seconds = 0; seconds < how.warmup_seconds;) seconds += l.run(repetitions).seconds;

  roofline::measured_peak c{l.resource, l.kernel, {}, 0, {}};
  const int enough = 2 * how.samples, most = 5 * enough;
  for (int i = 0; i < enough || (i < most && !is_confirmed(c.samples)); ++i) {
    if (i >= how.samples) {
      std::this_thread::sleep_for(std::chrono::duration<double>(how.pause_seconds));
    }
    const run_time t = l.run(repetitions);
    c.samples.push_back({l.amount * double(repetitions) / t.seconds, t.clock_mhz});
  }
  const auto [slowest, best] = std::ranges::minmax(c.samples, {}, &roofline::pace::rate);
  c.best = best;
  c.spread = 1 - slowest.rate / best.rate;
  return c;
}

roofline::peaks peaks_for(const results::device& d) {
  roofline::peaks c{d.name, {}, "", {}};
  for (const char* key : {"compute_capability", "multiprocessors", "l2_bytes", "max_clock_mhz",
                          "driver", "driver_supports_cuda", "threads"}) {
    if (const std::string fact = d.fact(key); !fact.empty()) c.facts[key] = fact;
  }
  return c;
}

}  // namespace kzoo::microbenchmarks
