// The exit code, which cells are compared with the baseline, and which launch stands for a cell.
#include "results/document.hpp"
#include "results/tuned.hpp"
#include "support/catch.hpp"

using namespace kzoo;
using results::cell;
using results::document;
using test::ContainsSubstring;

namespace {

cell made(const char* plugin, verdict v, std::size_t problem = 0) {
  cell c;
  c.kernel = {plugin, "v"};
  c.verdict = v;
  c.problem = problem;
  return c;
}

cell timed(const char* plugin, double ms, timing::clock clock, std::size_t problem = 0) {
  cell c = made(plugin, verdict::pass, problem);
  c.time = timing::summarise({ms}, {0});
  c.time->clock = clock;
  return c;
}

}  // namespace

TEST_CASE("the exit code is 0 where a kernel passed and none failed", "[results]") {
  document d;
  CHECK(exit_code(d) == 1);
  CHECK(results::nothing_ran(d));
  d.cells = {made("a", verdict::pass), made("b", verdict::unsupported),
             made("c", verdict::unavailable)};
  CHECK(exit_code(d) == 0);
  for (const verdict v : {verdict::wrong, verdict::crashed, verdict::hung, verdict::error}) {
    document failing = d;
    failing.cells.push_back(made("d", v));
    CHECK(exit_code(failing) == 1);
  }
}

TEST_CASE("a run in which all declined is not right, nor one in which a source did", "[results]") {
  document d;
  results::plugin_record mine;
  mine.name = "mine";
  mine.description = results::plugin_description{};
  d.plugins = {mine};
  d.cells = {made("mine", verdict::unsupported)};
  CHECK(results::nothing_ran(d));
  CHECK(exit_code(d) == 1);
  d.cells.push_back(made("other", verdict::pass));
  CHECK_FALSE(results::nothing_ran(d));
  CHECK(exit_code(d) == 0);
  d.plugins[0].source = "/somewhere/mine.cu";
  CHECK(results::unjudged_sources(d) == std::vector<std::string>{"mine"});
  CHECK(exit_code(d) == 1);
  d.cells.push_back(made("mine", verdict::pass));
  CHECK(exit_code(d) == 0);
  d.cells.back().verdict = verdict::wrong;
  CHECK(results::unjudged_sources(d).empty());
  CHECK_FALSE(results::nothing_ran(d));
}

TEST_CASE("checks that took long are told with their reason", "[results]") {
  CHECK_FALSE(results::slow_checks(19, 300'000'000));
  CHECK_FALSE(results::slow_checks(100, 1'000'000));
  const auto slow = results::slow_checks(100, 300'000'000);
  REQUIRE(slow);
  CHECK(slow->outcome == results::outcome::pass);
  CHECK_THAT(slow->detail, ContainsSubstring("took 100 s") && ContainsSubstring("300 MB"));
}

TEST_CASE("a library that cannot be used is a failure, a missing build is not", "[results]") {
  document d;
  d.cells = {made("a", verdict::pass)};
  results::plugin_record p;
  p.name = "x";
  d.plugins = {p};
  CHECK(exit_code(d) == 0);
  d.plugins[0].file = "/somewhere/x.so";
  CHECK(exit_code(d) == 1);
  d.plugins[0].description = results::plugin_description{};
  CHECK(exit_code(d) == 0);
}

TEST_CASE("the baseline is of the same problem and the same clock", "[results]") {
  document d;
  d.experiment.problems.resize(2);
  d.experiment.baseline = selector{"base", {}};
  d.cells = {timed("base", 2, timing::clock::gpu),    timed("a", 4, timing::clock::gpu),
             timed("b", 4, timing::clock::simulator), made("c", verdict::wrong),
             timed("base", 1, timing::clock::cpu, 1), timed("a", 1, timing::clock::gpu, 1)};
  CHECK(d.baseline_of(d.cells[1]) == &d.cells[0]);
  CHECK(d.baseline_of(d.cells[2]) == nullptr);
  CHECK(d.baseline_of(d.cells[3]) == nullptr);
  CHECK(d.baseline_of(d.cells[5]) == nullptr);
}

namespace {

// A baseline of 1 ms, and a kernel of 2 ms, on one device, and one of 3 ms on another.
document on_two_devices() {
  document d;
  d.experiment.problems.resize(1);
  d.experiment.baseline = selector{"base", {}};
  d.devices = {"cuda:0", "cuda:1"};
  d.cells = {timed("base", 1, timing::clock::gpu), timed("a", 2, timing::clock::gpu),
             timed("b", 3, timing::clock::gpu)};
  d.cells[0].device = d.cells[1].device = "cuda:0";
  d.cells[2].device = "cuda:1";
  return d;
}

}  // namespace

TEST_CASE("times of two devices are compared by their speedups", "[results]") {
  document d = on_two_devices();
  d.compare_with_baseline(std::span(d.cells).first(2), true);
  // The second device is half as fast.
  d.cells[2].speedup = timing::ratio{2.0 / 3, timing::interval{0.6, 0.7}};
  d.cells[2].baseline_ms = 2;

  CHECK(d.ratio_of(d.cells[1], d.cells[2]).value == Approx(4.0 / 3));
  CHECK(d.ratio_of(d.cells[0], d.cells[2]).value == Approx(2.0 / 3));
  CHECK(d.comparable_ms(d.cells[1]) == 2);
  CHECK(d.comparable_ms(d.cells[2]) == Approx(1.5));
  CHECK(results::rank(d).front().best() == &d.cells[2]);
  const auto slow = d.slow_devices();
  REQUIRE(slow.size() == 1);
  CHECK(slow[0].device == "cuda:1");
  CHECK(slow[0].slowdown == Approx(2));
}

TEST_CASE("a baseline that another device timed before an interruption gives no speedup",
          "[results]") {
  document d = on_two_devices();
  d.compare_with_baseline(d.cells);
  CHECK(d.cells[1].speedup.value().value == Approx(0.5));
  CHECK_FALSE(d.cells[2].speedup);
}

TEST_CASE("GFLOP/s are 2 M N K over the time", "[results]") {
  document d;
  d.experiment.problems.resize(1);
  d.experiment.problems[0].m = d.experiment.problems[0].n = d.experiment.problems[0].k = 1000;
  d.cells = {timed("a", 2, timing::clock::gpu), made("b", verdict::wrong)};
  CHECK(d.gflops(d.cells[0]) == 1000.0);
  CHECK_FALSE(d.gflops(d.cells[1]));
}

TEST_CASE("a cell's main launch is the one with the lowest occupancy", "[results]") {
  results::launch unknown, copies, product;
  copies.resident_warps = copies.most_warps = product.most_warps = 64;
  product.resident_warps = 12;
  CHECK(results::main_launch({}) == nullptr);
  CHECK(results::main_launch({unknown}) == nullptr);
  const std::vector<results::launch> all{unknown, copies, product, product, copies};
  CHECK(results::main_launch(all) == &all[2]);
}
