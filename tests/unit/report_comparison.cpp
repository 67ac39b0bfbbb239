#include "report/report.hpp"

#include "support/catch.hpp"
#include "support/made_results.hpp"

using namespace kzoo;
using kzoo::test::ContainsSubstring;

TEST_CASE("a plugin's line has its verdicts, its longest time and the change", "[report]") {
  const results::document before = test::made_document();
  CHECK_THAT(
      report::change_line(before, nullptr, "base"),
      ContainsSubstring("base: 2 pass; 512x512x512 f32 1.00 ms") && !ContainsSubstring("before"));
  results::document now = before;
  now.cells[0].time = test::rounds_apart({0.5, 0.505, 0.495});
  CHECK_THAT(report::change_line(now, &before, "base"),
             ContainsSubstring(" ms, was 1.00 ms; over 2 cells 29.3 % less time than before"));
  CHECK_THAT(report::change_line(now, &before, "fast"),
             ContainsSubstring("fast: 1 pass, 1 wrong; ") &&
                 ContainsSubstring("; no other time than before; fast:8x8_4x4 on ") &&
                 ContainsSubstring(": element (1, 2) is nan"));
  CHECK(report::all_right(now, "base"));
  CHECK_FALSE(report::all_right(now, "fast"));
}

TEST_CASE("the line of a plugin that declines every problem says why", "[report]") {
  results::document d = test::made_document();
  for (results::cell& c : d.cells) {
    if (c.kernel.plugin != "base") continue;
    c.verdict = verdict::unsupported;
    c.reason = "it computes f16, not f32";
    c.time.reset();
  }
  CHECK_THAT(report::change_line(d, nullptr, "base"),
             ContainsSubstring("base: 2 unsupported; base:") &&
                 ContainsSubstring(": it computes f16, not f32"));
  d.cells[0].verdict = verdict::pass;
  CHECK_THAT(report::change_line(d, nullptr, "base"), !ContainsSubstring("it computes"));
}

TEST_CASE("times of the simulator are left out of a plugin's line", "[report]") {
  results::document d = test::made_document();
  for (const std::size_t i : {0u, 3u}) d.cells[i].time->clock = timing::clock::simulator;
  CHECK(report::change_line(d, &d, "base") == "base: 2 pass");
}
