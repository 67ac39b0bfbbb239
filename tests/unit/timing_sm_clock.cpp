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
