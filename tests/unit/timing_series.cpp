// When a cell has been timed enough.
#include "support/catch.hpp"
#include "timing/series.hpp"

using namespace kzoo::timing;

namespace {

constexpr stop_rule kRule{6, 0.01, 10.0};

// Turns of two samples each, a second long.
series after(int turns, double scatter) {
  series s;
  for (int round = 0; round < turns; ++round) {
    const double ms = 1 + (round % 2 == 0 ? scatter : -scatter);
    s.add(round, std::vector{ms, ms}, std::vector{1900.0, 0.0}, 1.0);
  }
  return s;
}

}  // namespace

TEST_CASE("a steady kernel takes the requested rounds and no more", "[timing]") {
  CHECK_FALSE(after(5, 0).precise(kRule));
  CHECK(after(6, 0).precise(kRule));
  CHECK(after(6, 0).summarised(kRule).stopped == stop::precise);
  CHECK(after(6, 0).summarised(kRule).samples_ms.size() == 12);
  CHECK(after(6, 0).summarised(kRule).sm_mhz.size() == 12);
}

TEST_CASE("a noisy kernel takes more rounds until its time limit", "[timing]") {
  CHECK(after(6, 0.005).precise(kRule));
  CHECK_FALSE(after(9, 0.1).precise(kRule));
  CHECK_FALSE(after(9, 0.1).out_of_time(kRule));
  CHECK(after(10, 0.1).out_of_time(kRule));
  CHECK(after(10, 0.1).summarised(kRule).stopped == stop::out_of_time);
  CHECK(after(10, 0.1).summarised(kRule).relative_half_width > 0.01);
}

TEST_CASE("the time limit ends a series before its last round, and the summary says so",
          "[timing]") {
  const stop_rule hurried{6, 0.01, 3.0};
  CHECK(after(3, 0).out_of_time(hurried));
  CHECK(after(3, 0).summarised(hurried).stopped == stop::out_of_time);
}

TEST_CASE("fewer rounds than an interval needs are enough when no more were asked for",
          "[timing]") {
  CHECK(after(2, 0.1).precise({2, 0.01, 10.0}));
}

TEST_CASE("a summary without any known clock has none", "[timing]") {
  series s;
  s.add(0, std::vector{1.0, 1.0}, std::vector{0.0, 0.0}, 1.0);
  CHECK(s.summarised(kRule).sm_mhz.empty());
}
