// Statistics of the samples of one cell, and when there are enough.
#include "support/catch.hpp"
#include "support/rounds_apart.hpp"
#include "timing/summary.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace timing = kzoo::timing;
using kzoo::test::rounds_apart;

TEST_CASE("one sample is its own median, without spread", "[timing]") {
  const timing::summary s = rounds_apart({3.5});
  CHECK(s.median_ms == 3.5);
  CHECK(s.min_ms == 3.5);
  CHECK(s.spread == 0);
}

TEST_CASE("the median lies between the middle two, and samples keep their order", "[timing]") {
  const timing::summary s = rounds_apart({4, 1, 3, 2});
  CHECK(s.median_ms == 2.5);
  CHECK(s.min_ms == 1);
  CHECK(s.samples_ms.unpacked() == std::vector<double>{4, 1, 3, 2});
  // Quartiles at ranks 0.75 and 2.25: 1.75 and 3.25.
  CHECK(std::abs(s.spread - 1.5 / 2.5) < 1e-12);
}

TEST_CASE("one outlier changes neither median nor spread", "[timing]") {
  const timing::summary s = rounds_apart({1, 1, 1, 1, 1, 1, 1, 1000});
  CHECK(s.median_ms == 1);
  CHECK(s.spread == 0);
}

using kzoo::timing::packed_integers;
using kzoo::timing::packed_numbers;

TEST_CASE("packed numbers come back bit for bit", "[timing]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  for (const std::vector<double>& list :
       std::vector<std::vector<double>>{{},
                                        {0, 1, 65535},
                                        {1980, 65536},
                                        {-1},
                                        {-0.0, 0.0},
                                        {0.1},
                                        {double(0.1f), 3, 1e30f},
                                        {1e300},
                                        {nan, 1},
                                        {infinite, -infinite},
                                        {16777217},
                                        {std::numeric_limits<double>::denorm_min()}}) {
    const packed_numbers packed(list);
    REQUIRE(packed.size() == list.size());
    CHECK(packed.empty() == list.empty());
    for (std::size_t i = 0; i < list.size(); ++i) {
      INFO(list[i]);
      CHECK(std::bit_cast<std::uint64_t>(packed[i]) == std::bit_cast<std::uint64_t>(list[i]));
      CHECK(std::bit_cast<std::uint64_t>(packed.unpacked()[i]) ==
            std::bit_cast<std::uint64_t>(list[i]));
    }
  }
  constexpr int kMost = std::numeric_limits<int>::max();
  for (const std::vector<int>& list : {std::vector{0, 65535}, {65536}, {-1, kMost}}) {
    CHECK(packed_integers(list).unpacked() == list);
    CHECK(packed_integers(list).back() == list.back());
  }
}

using kzoo::timing::end_to_end;

TEST_CASE("end to end is the median of each phase, and the total is their sum", "[timing]") {
  const end_to_end m = kzoo::timing::medians({{100, 5, 9, 1}, {2, 6, 7, 3}, {1, 4, 8, 2}});
  CHECK(m.allocate_ms == 2);
  CHECK(m.to_device_ms == 5);
  CHECK(m.kernel_ms == 8);
  CHECK(m.to_host_ms == 2);
  CHECK(m.total_ms() == 17);
}

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
