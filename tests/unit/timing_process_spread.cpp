#include "core/verdict.hpp"
#include "microbenchmarks/measure.hpp"
#include "support/catch.hpp"
#include "support/rounds_apart.hpp"
#include "timing/summary.hpp"

#include <cmath>
#include <random>
#include <vector>

using namespace kzoo;
using namespace kzoo::timing;
using kzoo::test::ContainsSubstring;
using kzoo::test::rounds_apart;

namespace {

// Medians of kernels that take so long, in `processes` processes with this spread. From one process
// to the next all times grow by `drift` of themselves.
std::vector<std::vector<process_median>> made_up(const process_spread& s, int processes,
                                                 double drift, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<std::vector<process_median>> kernels;
  for (const double ms : {0.008, 0.013, 0.025, 0.13, 1.0}) {
    kernels.emplace_back();
    for (int i = 0; i < processes; ++i) {
      const double error = 0.0002 * ms;  // of the process's own rounds
      kernels.back().push_back(
          {ms * (1 + i * drift) + deviation(s, ms) * normal(random) + error * normal(random),
           error});
    }
  }
  return kernels;
}

}  // namespace

TEST_CASE("the spread between processes is found again, beside the scatter of rounds", "[timing]") {
  const process_spread small{1e-4, 1e-4}, large{1e-5, 5e-3};
  for (const process_spread& s : {small, large}) {
    const process_spread found = fit(made_up(s, 200, 0, 7));
    for (const double ms : {0.01, 0.1, 1.0}) {
      INFO(ms);
      CHECK(deviation(found, ms) > 0.95 * deviation(s, ms));
      CHECK(deviation(found, ms) < 1.4 * deviation(s, ms));
    }
  }
  CHECK(deviation(fit(made_up({0, 0}, 200, 0, 8)), 0.1) < 1e-5);
}

// Half of all best guesses are too small, and where a few processes show no share, there may be
// one.
TEST_CASE("few processes seldom make a spread look smaller than it is", "[timing]") {
  constexpr int kTrials = 40;
  for (const process_spread& s : {process_spread{1e-4, 2e-4}, process_spread{1e-5, 1e-4}}) {
    for (const double ms : {0.01, 0.1, 2.7}) {
      int too_small = 0, far_too_large = 0;
      for (unsigned trial = 0; trial < kTrials; ++trial) {
        const double found = deviation(fit(made_up(s, 10, 0, 100 + trial)), ms);
        too_small += found < deviation(s, ms) ? 1 : 0;
        far_too_large += found > 4 * deviation(s, ms) ? 1 : 0;
      }
      INFO(s.ms << " ms and " << s.share << ", at " << ms << " ms: " << too_small << ", "
                << far_too_large);
      CHECK(too_small <= kTrials / 5);
      CHECK(far_too_large <= kTrials / 10);
    }
  }
}

TEST_CASE("a slow drift is not taken for a spread between processes", "[timing]") {
  const process_spread s{1e-4, 0};
  CHECK(deviation(fit(made_up(s, 20, 5e-4, 9)), 1.0) < 2e-3);  // 20 processes drift by 1e-2
}

TEST_CASE("two kernels that differ by their processes alone are a tie, 95 times in 100",
          "[timing]") {
  const process_spread s{1e-4, 2e-4};
  constexpr int kTrials = 400;
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (const double ms : {0.012, 0.05, 2.7}) {
    int ties = 0, plain = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      const auto timed = [&] {
        const double own = ms + deviation(s, ms) * normal(random);
        std::vector<double> samples;
        for (int round = 0; round < 10; ++round)
          samples.push_back(own * (1 + 1e-4 * normal(random)));
        return rounds_apart(samples);
      };
      const summary a = timed(), b = timed();
      const ratio narrow = paired_ratio(a, b);
      plain += narrow.tie();
      ties += widened(narrow, a, b, s).tie();
    }
    INFO(ms << " ms: " << ties << " and " << plain << " of " << kTrials);
    CHECK(ties >= kTrials * 93 / 100);
    CHECK(ties < kTrials);
    CHECK(plain < kTrials * 80 / 100);
  }
}

TEST_CASE("a widened interval keeps the ratio, and a missing one stays missing", "[timing]") {
  const summary a = rounds_apart(std::vector<double>(10, 1.1)),
                b = rounds_apart(std::vector<double>(10, 1.0));
  const ratio exact = paired_ratio(a, b), wide = widened(exact, a, b, {0, 0.01});
  CHECK(wide.value == exact.value);
  REQUIRE(wide.likely);
  CHECK(std::log(wide.likely->high / wide.value) == Approx(2 * std::sqrt(2) * 0.01));
  CHECK(std::log(wide.value / wide.likely->low) == Approx(2 * std::sqrt(2) * 0.01));
  CHECK_FALSE(wide.tie());
  CHECK_FALSE(widened({1.1, {}}, a, b, {0, 0.01}).likely);
}

TEST_CASE("only the reply of a process that timed products is read", "[timing]") {
  const auto read = [](const std::string& output) {
    return microbenchmarks::read_medians(output, "code 1");
  };
  const auto medians =
      read("noise\nkernel-zoo reply: {\"answer\": [[0.008, 1e-05], [0.013, 0]]}\n");
  REQUIRE(medians.size() == 2);
  CHECK(medians[0].ms == 0.008);
  CHECK(medians[0].standard_error == 1e-05);
  CHECK_THROWS_WITH(read("no device\n"), ContainsSubstring("code 1"));
  CHECK_THROWS_WITH(read("kernel-zoo reply: {\"verdict\": \"error\", \"reason\": \"no device\"}\n"),
                    "no device");
  for (const char* wrong : {"[]", "[[-1, 0]]", "[[1]]", "[[null, 0]]", "{"})
    CHECK_THROWS_AS(read(std::string("kernel-zoo reply: {\"answer\": ") + wrong + "}"), failure);
}
