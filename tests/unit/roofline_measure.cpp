// From kernels to ceilings, with kernels whose speed is known.
#include "roofline/measure.hpp"

#include "support/catch.hpp"

#include <ctime>
#include <vector>

using namespace kzoo;

namespace {

constexpr roofline::schedule kAtOnce{0, 3, 0};

}  // namespace

TEST_CASE("a ceiling is the best of its samples", "[roofline]") {
  int samples = 0;
  std::vector<std::int64_t> asked;
  // 10 ms a repetition; once there are enough of them, one sample of many is half as fast.
  const devices::load l{roofline::resource::fp32, "made", 1e6, 0.095,
                        [&](std::int64_t repetitions) {
                          asked.push_back(repetitions);
                          const bool slow = repetitions >= 10 && ++samples == 4;
                          return devices::load_time{0.01 * double(repetitions) * (slow ? 2 : 1),
                                                    slow ? 500.0 : 1000.0};
                        }};
  const roofline::ceiling c = roofline::measure(l, kAtOnce);
  CHECK(c.resource == roofline::resource::fp32);
  CHECK(c.kernel == "made");
  CHECK(c.best.rate == Approx(1e8));
  CHECK(c.best.clock_mhz == 1000);
  CHECK(c.spread == Approx(0.5));
  CHECK(c.samples.size() == 6);
  CHECK(asked.front() == 1);
  CHECK(asked.back() == 10);  // as long as the load wants it
}

TEST_CASE("a best that no other sample confirms wants more of them", "[roofline]") {
  int runs = 0;
  const auto rate_of = [&](int lucky) {
    const devices::load l{roofline::resource::fp32, "made", 1, 0.01, [&](std::int64_t) {
                            return devices::load_time{++runs <= lucky ? 0.5 : 1.0, 0};
                          }};
    runs = -1;  // the first one is no sample
    return roofline::measure(l, kAtOnce);
  };
  CHECK(rate_of(1).samples.size() == 30);
  CHECK(rate_of(3).samples.size() == 6);
}

TEST_CASE("the clock settles before the first sample", "[roofline]") {
  double seconds = 0;
  const devices::load l{roofline::resource::fp32, "made", 1, 0.01, [&](std::int64_t repetitions) {
                          const double now = 0.01 * double(repetitions) * (seconds < 0.2 ? 2 : 1);
                          seconds += now;
                          return devices::load_time{now, 0};
                        }};
  CHECK(roofline::measure(l, {0.3, 2, 0}).spread == Approx(0).margin(1e-9));
}

TEST_CASE("ceilings hold for a device as it is", "[roofline]") {
  devices::device d;
  d.id = "cuda:1";
  d.name = "Some GPU";
  d.facts = {{"driver", "580.1"}, {"l2_bytes", "1000"}, {"runtime", "13.0"}};
  const roofline::ceilings c = roofline::ceilings_for(d);
  CHECK(c.device == "Some GPU");
  CHECK(c.facts == std::map<std::string, std::string>{{"driver", "580.1"}, {"l2_bytes", "1000"}});
}

TEST_CASE("sixteen times the work of a load takes longer", "[roofline]") {
  // The processor's time, which other work on the machine has little part in.
  const auto time_of = [](const devices::load& l, std::int64_t repetitions) {
    const std::clock_t start = std::clock();
    l.run(repetitions);
    return std::clock() - start;
  };
  for (const devices::load& l : devices::cpu_loads()) {
    INFO(l.kernel);
    CHECK(l.amount > 0);
    if (l.resource != roofline::resource::copy) CHECK(time_of(l, 128) > 2 * time_of(l, 8));
  }
}
