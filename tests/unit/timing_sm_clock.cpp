// The SM clock, and samples that a low clock spoils.
#include "support/catch.hpp"
#include "timing/sm_clock.hpp"

#include <vector>

using kzoo::timing::clock_stamp;
using kzoo::timing::sm_clock_mhz;

namespace {

constexpr unsigned long long kTick = 32;
// Like a GPU's timer: nanoseconds since 1970.
constexpr unsigned long long kNow = 1'800'000'000'000'000'000;

}  // namespace

TEST_CASE("the clock is cycles over time, the median over the SMs", "[timing]") {
  const std::vector<clock_stamp> before{{10, kNow}, {5000, kNow + 100}, {77, kNow + 9}};
  const std::vector<clock_stamp> after{{10 + 175'500, kNow + 100'000},
                                       {5000 + 180'000, kNow + 100'100},
                                       {77 + 100'000, kNow + 100'009}};
  CHECK(sm_clock_mhz(before, after, kTick) == 1755);
}

TEST_CASE("an SM that was not read both times does not count", "[timing]") {
  const std::vector<clock_stamp> before{{}, {1, kNow}, {1, kNow}, {900, kNow}};
  const std::vector<clock_stamp> after{{99, kNow}, {150'001, kNow + 100'000}, {}, {1, kNow + 99}};
  CHECK(sm_clock_mhz(before, after, kTick) == 1500);
  CHECK(sm_clock_mhz({}, after, kTick) == 0);
  CHECK(sm_clock_mhz(before, before, kTick) == 0);
}

TEST_CASE("the clock is not known where the timer is too coarse", "[timing]") {
  const std::vector<clock_stamp> before{{1, kNow}}, after{{20'001, kNow + 10'000}};
  CHECK(sm_clock_mhz(before, after, 200) == 2000);
  CHECK(sm_clock_mhz(before, after, 201) == 0);
}

using kzoo::timing::is_throttled;
using kzoo::timing::sample_state;
using kzoo::timing::throttle_filter;

TEST_CASE("a sample is throttled below three quarters of the highest clock", "[timing]") {
  CHECK_FALSE(is_throttled({.sm_mhz = 1980}, 1980));
  CHECK_FALSE(is_throttled({.sm_mhz = 1500}, 2000));
  CHECK(is_throttled({.sm_mhz = 1499}, 2000));
  // An unknown clock does not make a sample throttled.
  CHECK_FALSE(is_throttled({.sm_mhz = 0}, 2000));
  CHECK_FALSE(is_throttled({.sm_mhz = 1}, 0));
}

TEST_CASE("a sample is throttled by a slowdown at any clock, by the power limit at none",
          "[timing]") {
  CHECK(is_throttled({.sm_mhz = 2000, .slowed_down = true}, 2000));
  CHECK(is_throttled({.slowed_down = true}, 0));
  CHECK_FALSE(is_throttled({.sm_mhz = 1000, .power_capped = true}, 2000));
  CHECK(is_throttled({.sm_mhz = 1000, .slowed_down = true, .power_capped = true}, 2000));
}

TEST_CASE("throttled samples are discarded one by one", "[timing]") {
  throttle_filter filter(2000, 10);
  CHECK(filter.least_mhz() == 1500);
  CHECK(filter.accepts({.sm_mhz = 1900}));
  CHECK_FALSE(filter.accepts({.sm_mhz = 1400}));
  CHECK(filter.accepts({.sm_mhz = 1900}));
  CHECK(filter.discarded() == 1);
  CHECK_FALSE(filter.low_clock());
}

TEST_CASE("once half of the wanted samples were discarded, throttled ones count", "[timing]") {
  throttle_filter filter(2000, 5);
  CHECK_FALSE(filter.accepts({.sm_mhz = 1000}));
  CHECK_FALSE(filter.accepts({.sm_mhz = 1000}));
  CHECK(filter.least_mhz() == 0);
  CHECK(filter.accepts({.sm_mhz = 2000}));
  CHECK_FALSE(filter.low_clock());  // the device recovered
  CHECK(filter.accepts({.sm_mhz = 1000}));
  CHECK(filter.discarded() == 2);
  CHECK(filter.low_clock());
}

TEST_CASE("the only sample counts, however slow", "[timing]") {
  throttle_filter one(2000, 1);
  CHECK(one.least_mhz() == 0);
  CHECK(one.accepts({.sm_mhz = 500}));
  CHECK(one.low_clock());

  throttle_filter out_of_time(2000, 100);
  CHECK_FALSE(out_of_time.accepts({.sm_mhz = 500}));
  out_of_time.accept_all();
  CHECK(out_of_time.accepts({.sm_mhz = 500}));
  CHECK(out_of_time.discarded() == 1);
  CHECK(out_of_time.low_clock());
}
