#include "support/catch.hpp"
#include "support/rounds_apart.hpp"
#include "timing/summary.hpp"

#include <random>
#include <vector>

using namespace kzoo::timing;
using kzoo::test::rounds_apart;

namespace {

// Approximately normal: a sum of uniforms with this mean and standard deviation.
class source {
 public:
  explicit source(unsigned seed) : random_(seed) {}
  double next(double mean, double deviation) {
    double sum = -6;
    for (int j = 0; j < 12; ++j) sum += double(random_() >> 11) * 0x1p-53;
    return mean + deviation * sum;
  }

 private:
  std::mt19937_64 random_;
};

summary scattered(double mean, double deviation, int count, unsigned seed) {
  source random(seed);
  std::vector<double> samples;
  for (int i = 0; i < count; ++i) samples.push_back(random.next(mean, deviation));
  return rounds_apart(samples);
}

double width(const ratio& r) { return r.likely->high - r.likely->low; }

}  // namespace

TEST_CASE("the ratio of two runs is that of the medians", "[timing]") {
  const summary a = rounds_apart({1, 9, 3}), b = rounds_apart({2, 4, 1, 100});
  CHECK(ratio_of_medians(a, b).value == 1.0);
  CHECK(ratio_of_medians(b, a).value == 1.0);
  CHECK_FALSE(ratio_of_medians(a, b).likely);  // too few
  CHECK_FALSE(ratio_of_medians(a, b).tie());
  const summary zeros = rounds_apart(std::vector<double>(10, 0.0)),
                ones = rounds_apart(std::vector<double>(10, 1.0));
  CHECK_FALSE(ratio_of_medians(zeros, ones).likely);
  const auto exact = ratio_of_medians(ones, ones);
  REQUIRE(exact.likely);
  CHECK(exact.likely->low == 1.0);
  CHECK(exact.likely->high == 1.0);
  CHECK(exact.tie());
}

TEST_CASE("the quotient of two ratios is as uncertain as both", "[timing]") {
  const ratio a{2, interval{1.8, 2.4}}, b{4, interval{3.9, 4.4}};
  const ratio r = quotient(a, b);
  CHECK(r.value == 0.5);
  CHECK(r.likely.value().low == Approx(0.43378).epsilon(1e-4));
  CHECK(r.likely.value().high == Approx(0.60105).epsilon(1e-4));
  CHECK_FALSE(quotient(a, {4, {}}).likely);
}

TEST_CASE("the interval covers the true ratio about 95 times in 100, and is reproducible",
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
  CHECK(held >= kTrials * 92 / 100);
  CHECK(held < kTrials);

  const auto a = scattered(1, 0.1, 50, 1), b = scattered(1, 0.1, 50, 2);
  CHECK(ratio_of_medians(a, b).likely->low == ratio_of_medians(a, b).likely->low);
  // More samples, a narrower interval.
  const auto many_a = scattered(1, 0.1, 5000, 1), many_b = scattered(1, 0.1, 5000, 2);
  CHECK(width(ratio_of_medians(many_a, many_b)) < width(ratio_of_medians(a, b)) / 4);
}

TEST_CASE("the interval of few values covers the true value as often as that of many", "[timing]") {
  constexpr int kTrials = 1000;
  for (const std::size_t count : {6, 10, 20, 40}) {
    int held = 0;
    for (unsigned seed = 0; seed < kTrials; ++seed) {
      const summary s = scattered(1, 0.02, static_cast<int>(count), seed);
      const auto likely = interval_of_median(s.samples_ms.unpacked());
      REQUIRE(likely);
      held += likely->low <= 1 && 1 <= likely->high ? 1 : 0;
    }
    INFO(count << " values: " << held << " of " << kTrials);
    CHECK(held >= 940);
    CHECK(held <= 985);
  }
  CHECK_FALSE(interval_of_median(std::vector<double>(kFewestTurns - 1, 1.0)));
}

TEST_CASE("what slows a whole round cancels out of the ratio of two kernels in it", "[timing]") {
  // Rounds differ by up to a fifth, the two kernels of a round by their ratio and a thousandth.
  int held = 0;
  constexpr int kTrials = 100, kRounds = 12;
  for (unsigned seed = 0; seed < kTrials; ++seed) {
    source random(seed);
    std::vector<double> a, b;
    std::vector<int> rounds;
    for (int round = 0; round < kRounds; ++round) {
      const double clock = random.next(1, 0.1);
      for (int sample = 0; sample < 2; ++sample) {
        a.push_back(clock * random.next(1.05, 0.001));
        b.push_back(clock * random.next(1, 0.001));
        rounds.push_back(round);
      }
    }
    const summary of_a = summarise(a, rounds), of_b = summarise(b, rounds);
    const ratio paired = paired_ratio(of_a, of_b);
    REQUIRE(paired.likely);
    CHECK(width(paired) < 0.005);
    CHECK(width(paired) < width(ratio_of_medians(of_a, of_b)) / 5);
    CHECK_FALSE(paired.tie());
    held += paired.likely->low <= 1.05 && 1.05 <= paired.likely->high ? 1 : 0;
  }
  INFO(held);
  CHECK(held >= kTrials * 92 / 100);
}

TEST_CASE("only rounds that both kernels took part in are paired", "[timing]") {
  const std::vector<int> even{0, 2, 4, 6, 8, 10}, from_four{4, 5, 6, 7, 8};
  const summary a = summarise({100, 100, 2, 2, 2, 100}, even),
                b = summarise({1, 50, 1, 50, 1}, from_four);
  const ratio r = paired_ratio(a, b);
  CHECK(r.value == 2);
  CHECK_FALSE(r.likely);  // three rounds are too few
  // No common round: as for two different runs.
  const summary c = summarise({1, 1, 1}, {1, 2, 3});
  CHECK(paired_ratio(b, c).value == ratio_of_medians(b, c).value);
}

TEST_CASE("samples of one turn count as one", "[timing]") {
  const summary s = summarise({1, 1, 1, 1, 9, 9}, {0, 0, 0, 0, 1, 1});
  CHECK(s.median_ms == 1);
  REQUIRE(turns(s).size() == 2);
  CHECK(turns(s)[0].median_ms == 1);
  CHECK(turns(s)[1].median_ms == 9);
  CHECK(turns(s)[1].round == 1);
  CHECK_FALSE(s.relative_half_width < 1);  // two turns say nothing
}

TEST_CASE("the median of any number of samples", "[timing]") {
  std::vector<double> odd{3, 1, 2}, even{4, 1, 3, 2}, one{7};
  CHECK(median(odd) == 2);
  CHECK(median(even) == 2.5);
  CHECK(median(one) == 7);
}
