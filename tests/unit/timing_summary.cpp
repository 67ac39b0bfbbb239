#include "support/catch.hpp"
#include "support/rounds_apart.hpp"
#include "timing/summary.hpp"

#include <cmath>

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
