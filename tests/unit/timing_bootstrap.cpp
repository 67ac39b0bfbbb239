#include "support/catch.hpp"
#include "timing/bootstrap.hpp"
#include "timing/summary.hpp"

#include <random>
#include <vector>

using namespace kzoo::timing;

namespace {

// Normal enough: a sum of uniforms, with this mean and deviation.
std::vector<double> scattered(double mean, double deviation, int count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<double> samples;
  for (int i = 0; i < count; ++i) {
    double sum = -6;
    for (int j = 0; j < 12; ++j) sum += double(random() >> 11) * 0x1p-53;
    samples.push_back(mean + deviation * sum);
  }
  return samples;
}

}  // namespace

TEST_CASE("the ratio is that of the medians", "[timing]") {
  const std::vector<double> a{1, 9, 3}, b{2, 4, 1, 100};
  CHECK(ratio_of_medians(a, b).value == 1.0);
  CHECK(ratio_of_medians(b, a).value == 1.0);
  CHECK_FALSE(ratio_of_medians(a, b).likely);  // too few
  const std::vector<double> zeros(10, 0.0), ones(10, 1.0);
  CHECK_FALSE(ratio_of_medians(zeros, ones).likely);
  const auto exact = ratio_of_medians(ones, ones);
  REQUIRE(exact.likely);
  CHECK(exact.likely->low == 1.0);
  CHECK(exact.likely->high == 1.0);
}

TEST_CASE("the interval holds the true ratio about 95 times in 100, and is the same each time",
          "[timing]") {
  int held = 0;
  constexpr int kTrials = 200;
  for (unsigned seed = 0; seed < kTrials; ++seed) {
    const auto a = scattered(1.05, 0.02, 20, 2 * seed + 1), b = scattered(1, 0.02, 20, 2 * seed);
    const auto r = ratio_of_medians(a, b);
    REQUIRE(r.likely);
    CHECK(r.likely->low <= r.value);
    CHECK(r.likely->high >= r.value);
    held += r.likely->low <= 1.05 && 1.05 <= r.likely->high ? 1 : 0;
  }
  INFO(held);
  CHECK(held >= kTrials * 90 / 100);
  CHECK(held < kTrials);

  const auto a = scattered(1, 0.1, 50, 1), b = scattered(1, 0.1, 50, 2);
  CHECK(ratio_of_medians(a, b).likely->low == ratio_of_medians(a, b).likely->low);
  // More samples, a narrower interval.
  const auto many_a = scattered(1, 0.1, 5000, 1), many_b = scattered(1, 0.1, 5000, 2);
  const auto few = *ratio_of_medians(a, b).likely, many = *ratio_of_medians(many_a, many_b).likely;
  CHECK(many.high - many.low < (few.high - few.low) / 4);
}

TEST_CASE("the median of any number of samples", "[timing]") {
  std::vector<double> odd{3, 1, 2}, even{4, 1, 3, 2}, one{7};
  CHECK(median(odd) == 2);
  CHECK(median(even) == 2.5);
  CHECK(median(one) == 7);
}
