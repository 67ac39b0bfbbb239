// What changed between two runs.
#include <fmt/format.h>  // first: it calls a compare(), which the namespace would hide

#include "compare/compare.hpp"
#include "report/report.hpp"
#include "support/catch.hpp"
#include "support/made_results.hpp"
#include "support/rounds_apart.hpp"

using namespace kzoo;
using compare::change;
using results::document;
using test::ContainsSubstring;

namespace {

// Twelve samples within half a percent round `ms`.
results::cell timed(const char* plugin, std::size_t problem, double ms) {
  results::cell c = test::made_cell(plugin, problem, ms);
  std::vector<double> samples;
  for (int i = -6; i < 6; ++i) samples.push_back(ms * (1 + 0.0008 * i));
  const timing::caches caches = c.time->caches;
  c.time = test::rounds_apart(samples);
  c.time->caches = caches;
  return c;
}

document run_of(std::vector<results::cell> cells) {
  document d = test::made_document();
  d.cells = std::move(cells);
  return d;
}

document usual() {
  return run_of({timed("base", 0, 1.0), timed("fast", 0, 0.5), timed("base", 1, 8.0)});
}

change only_change(results::cell before, results::cell after, double threshold = 0.03) {
  const document a = run_of({std::move(before)}), b = run_of({std::move(after)});
  const auto c = compare::compare(a, b, threshold);
  REQUIRE(c.pairs.size() == 1);
  return c.pairs[0].change;
}

results::cell with_verdict(results::cell c, verdict v) {
  c.verdict = v;
  c.reason = "because";
  c.time.reset();
  return c;
}

}  // namespace

TEST_CASE("a result against itself has not changed", "[compare]") {
  const document d = usual();
  const auto c = compare::compare(d, d, 0.03);
  CHECK(c.count(change::same) == 3);
  CHECK(c.pairs.size() == 3);
  CHECK_FALSE(c.regressed());
  const document made = test::made_document();
  CHECK_FALSE(compare::compare(made, made, 0).regressed());
}

TEST_CASE("what differs between processes is no change", "[compare]") {
  document before = usual(), after = usual();
  after.cells[1] = timed("fast", 0, 0.525);
  after.peaks = roofline::peaks{"made", {}, "", {}, timing::process_spread{0, 0.005}};
  CHECK(compare::compare(before, after, 0.03).count(change::slower) == 1);
  after.peaks->spread = timing::process_spread{0.02, 0};  // 4 % of 0.5 ms
  const auto c = compare::compare(before, after, 0.03);
  CHECK(c.count(change::uncertain) == 2);  // also where nothing changed
  CHECK(c.count(change::same) == 1);       // 8 ms
  before.peaks = after.peaks;
  for (document* d : {&before, &after}) d->experiment.timing.fresh_processes = true;
  CHECK(compare::compare(before, after, 0.03).count(change::slower) == 1);
}

TEST_CASE("a tie allows for the processes of both kernels", "[compare]") {
  document d = run_of({timed("base", 0, 1.0), timed("fast", 0, 0.99)});
  const auto second = [&] { return compare::rank(d, "base").at(0).places.at(0).speed; };
  CHECK_FALSE(second().tie());
  d.peaks = roofline::peaks{"made", {}, "", {}, timing::process_spread{0, 0.005}};
  CHECK(second().tie());
}

TEST_CASE("five percent on one kernel are found there and nowhere else", "[compare]") {
  const document before = usual();
  document after = usual();
  after.cells[1] = timed("fast", 0, 0.525);
  const auto c = compare::compare(before, after, 0.03);
  CHECK(c.regressed());
  CHECK(c.count(change::slower) == 1);
  CHECK(c.count(change::same) == 2);
  CHECK(c.pairs[1].change == change::slower);
  CHECK(c.pairs[1].time->value == Approx(1.05).epsilon(1e-6));
  CHECK(compare::compare(after, before, 0.03).count(change::faster) == 1);
  CHECK_FALSE(compare::compare(before, after, 0.10).regressed());

  const std::string text = report::comparison_text(c, report::medium::text);
  CHECK_THAT(text, ContainsSubstring("REGRESSION: 1 slower, 2 same"));
  CHECK_THAT(text, ContainsSubstring("+5.0%"));
}

TEST_CASE("what the samples do not support is uncertain", "[compare]") {
  const auto base = timed("base", 0, 1.0);
  CHECK(only_change(base, timed("base", 0, 1.03)) == change::uncertain);  // at the threshold
  CHECK(only_change(test::made_cell("base", 0, 1), test::made_cell("base", 0, 9)) ==
        change::uncertain);  // three samples
  auto other_clock = base;
  other_clock.time->clock = timing::clock::simulator;
  CHECK(only_change(base, other_clock) == change::uncertain);
}

TEST_CASE("a verdict that changed is worth more than a time", "[compare]") {
  const auto right = timed("base", 0, 1.0);
  for (const verdict v : {verdict::wrong, verdict::crashed, verdict::hung, verdict::error}) {
    const auto failed = with_verdict(right, v);
    CHECK(only_change(right, failed) == change::broken);
    CHECK(only_change(failed, right) == change::repaired);
    CHECK(only_change(failed, failed) == change::failing);
  }
  auto untimed = right;
  untimed.time.reset();
  CHECK(only_change(untimed, untimed) == change::same);
  CHECK(only_change(right, untimed) == change::uncertain);
  const document before = run_of({right}), after = run_of({with_verdict(right, verdict::wrong)});
  const auto c = compare::compare(before, after, 0.03);
  CHECK(c.regressed());
  CHECK_THAT(report::comparison_text(c, report::medium::text), ContainsSubstring("because"));
}

TEST_CASE("a kernel that declines now is said, and is a regression", "[compare]") {
  const auto right = timed("base", 0, 1.0);
  for (const verdict v : {verdict::unsupported, verdict::unavailable}) {
    const document before = run_of({right}), after = run_of({with_verdict(right, v)});
    const auto c = compare::compare(before, after, 0.03);
    CHECK(c.count(change::declined) == 1);
    CHECK(c.regressed());
    const std::string text = report::comparison_text(c, report::medium::text);
    CHECK_THAT(text, ContainsSubstring("REGRESSION: 1 declined") && ContainsSubstring("because"));
    // Back again.
    CHECK(compare::compare(after, before, 0.03).count(change::added) == 1);
    CHECK_FALSE(compare::compare(after, before, 0.03).regressed());
    CHECK(compare::compare(after, after, 0.03).pairs.empty());
  }
  // It failed before: nothing is lost.
  CHECK(only_change(with_verdict(right, verdict::wrong),
                    with_verdict(right, verdict::unsupported)) == change::gone);
}

TEST_CASE("a plugin that cannot be loaded any more loses all its variants", "[compare]") {
  auto other = timed("base", 0, 1.0);
  other.kernel.variant = "other";
  const document before = run_of({timed("base", 0, 1.0), other, timed("fast", 0, 1.0)});
  for (const auto& [v, expected] : {std::pair(verdict::unavailable, change::declined),
                                    std::pair(verdict::crashed, change::broken)}) {
    auto whole = with_verdict(timed("base", 0, 1.0), v);
    whole.kernel.variant = "";
    const document after = run_of({whole, timed("fast", 0, 1.0)});
    const auto c = compare::compare(before, after, 0.03);
    CHECK(c.pairs.size() == 3);
    CHECK(c.count(expected) == 2);
    CHECK(c.count(change::same) == 1);
    CHECK_THAT(report::comparison_text(c, report::medium::text),
               ContainsSubstring("base:other: because"));
  }
}

TEST_CASE("cells without a partner are new or gone", "[compare]") {
  const auto right = timed("base", 0, 1.0);
  const document before = run_of({right, timed("old", 0, 1.0)});
  const document after = run_of({timed("young", 0, 1.0), right});
  const auto c = compare::compare(before, after, 0.03);
  REQUIRE(c.pairs.size() == 3);
  CHECK(c.pairs[0].change == change::added);
  CHECK(c.pairs[1].change == change::same);
  CHECK(c.pairs[2].change == change::gone);
  CHECK_FALSE(c.regressed());
  // The same kernel on another problem is another cell.
  CHECK(compare::compare(run_of({timed("base", 0, 1)}), run_of({timed("base", 1, 1)}), 0.03)
            .count(change::gone) == 1);
}

TEST_CASE("other devices and toolkits cannot be compared", "[compare]") {
  const document d = usual();
  CHECK_FALSE(compare::incomparable(d, d));
  document other = usual();
  other.device.name = "Another GPU";
  CHECK_THAT(compare::incomparable(d, other).value(),
             ContainsSubstring("Some GPU and Another GPU"));
  other = usual();
  other.device.facts["runtime"] = "14.0";
  CHECK_THAT(compare::incomparable(d, other).value(), ContainsSubstring("13.0 and 14.0"));
  other = usual();
  other.host = "elsewhere";
  CHECK_FALSE(compare::incomparable(d, other));
}

TEST_CASE("the kernels of a problem in the order of their speed", "[compare]") {
  const document d = run_of(
      {timed("base", 0, 1.0), timed("slow", 0, 2.0), timed("fast", 0, 0.5), timed("twin", 0, 1.001),
       with_verdict(timed("bad", 0, 1), verdict::wrong), timed("slow", 1, 1.0)});
  const auto rankings = compare::rank(d, "base");
  REQUIRE(rankings.size() == 1);
  std::vector<std::string> names;
  for (const auto& p : rankings[0].places) names.push_back(p.cell->kernel.plugin);
  CHECK(names == std::vector<std::string>{"fast", "base", "twin", "slow"});
  CHECK(rankings[0].places[0].speed.value == Approx(2.0).epsilon(1e-3));
  CHECK(rankings[0].places[1].is_baseline);
  const std::string text = report::ranking_text(d, "base", rankings, report::medium::text);
  for (const char* words : {"1  fast:8x8_4x4", "2.00x", "faster", "baseline", "tie", "slower"}) {
    CHECK_THAT(text, ContainsSubstring(words));
  }
  CHECK(compare::rank(d, "nobody").empty());
}
