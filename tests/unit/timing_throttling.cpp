#include "support/catch.hpp"
#include "timing/throttling.hpp"

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
