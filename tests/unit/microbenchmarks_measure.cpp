// Measures peaks with microbenchmarks whose speed is known.
#include "microbenchmarks/measure.hpp"

#include "support/catch.hpp"

#include <ctime>
#include <vector>

using namespace kzoo;

namespace {

constexpr microbenchmarks::schedule kAtOnce{0, 3, 0};

}  // namespace

TEST_CASE("a peak is the best of its samples", "[roofline]") {
  int samples = 0;
  std::vector<std::int64_t> asked;
  // 10 ms a repetition; once there are enough of them, one sample of many is half as fast.
  const microbenchmarks::microbenchmark b{
      roofline::resource::fp32, "made", 1e6, 0.095, [&](std::int64_t repetitions) {
        asked.push_back(repetitions);
        const bool slow = repetitions >= 10 && ++samples == 4;
        return microbenchmarks::run_time{0.01 * double(repetitions) * (slow ? 2 : 1),
                                         slow ? 500.0 : 1000.0};
      }};
  const roofline::measured_peak c = microbenchmarks::measure(b, kAtOnce);
  CHECK(c.resource == roofline::resource::fp32);
  CHECK(c.kernel == "made");
  CHECK(c.best.rate == Approx(1e8));
  CHECK(c.best.clock_mhz == 1000);
  CHECK(c.spread == Approx(0.5));
  CHECK(c.samples.size() == 6);
  CHECK(asked.front() == 1);
  CHECK(asked.back() == 10);  // as long as the microbenchmark asks for
}

TEST_CASE("more samples are taken while no other confirms the best", "[roofline]") {
  int runs = 0;
  const auto rate_of = [&](int lucky) {
    const microbenchmarks::microbenchmark b{
        roofline::resource::fp32, "made", 1, 0.01, [&](std::int64_t) {
          return microbenchmarks::run_time{++runs <= lucky ? 0.5 : 1.0, 0};
        }};
    runs = -1;  // the first run is not a sample
    return microbenchmarks::measure(b, kAtOnce);
  };
  CHECK(rate_of(1).samples.size() == 30);
  CHECK(rate_of(3).samples.size() == 6);
}

TEST_CASE("the clock settles before the first sample", "[roofline]") {
  double seconds = 0;
  const microbenchmarks::microbenchmark b{
      roofline::resource::fp32, "made", 1, 0.01, [&](std::int64_t repetitions) {
        const double now = 0.01 * double(repetitions) * (seconds < 0.2 ? 2 : 1);
        seconds += now;
        return microbenchmarks::run_time{now, 0};
      }};
  CHECK(microbenchmarks::measure(b, {0.3, 2, 0}).spread == Approx(0).margin(1e-9));
}

TEST_CASE("peaks hold for a device in its present configuration", "[roofline]") {
  results::device d;
  d.id = "cuda:1";
  d.name = "Some GPU";
  d.facts = {{"driver", "580.1"}, {"l2_bytes", "1000"}, {"runtime", "13.0"}};
  const roofline::peaks c = microbenchmarks::peaks_for(d);
  CHECK(c.device == "Some GPU");
  CHECK(c.facts == std::map<std::string, std::string>{{"driver", "580.1"}, {"l2_bytes", "1000"}});
}

TEST_CASE("sixteen times the work of a microbenchmark takes longer", "[roofline]") {
  // CPU time, which other work on the machine hardly affects.
  const auto time_of = [](const microbenchmarks::microbenchmark& b, std::int64_t repetitions) {
    const std::clock_t start = std::clock();
    b.run(repetitions);
    return std::clock() - start;
  };
  for (const microbenchmarks::microbenchmark& b : microbenchmarks::on_cpu()) {
    INFO(b.kernel);
    CHECK(b.amount > 0);
    if (b.resource != roofline::resource::copy) CHECK(time_of(b, 128) > 2 * time_of(b, 8));
  }
}
