// The outcome of tuning: who is the best, and as a file.

#include "report/report.hpp"
#include "results/tuned.hpp"
#include "storage/documents_json.hpp"
#include "support/catch.hpp"
#include "support/made_results.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

#include <algorithm>

using namespace kzoo;
using test::ContainsSubstring;

namespace {

// A baseline and five points on one problem.
results::document tuned_document() {
  results::document d = test::made_document();
  d.experiment.overridden.tune = true;
  d.experiment.problems.resize(1);
  d.cells.clear();
  // `odd`: slower in rounds of odd numbers.
  const auto add = [&](const char* plugin, const char* variant, double ms, timing::stop stopped,
                       double odd = 1) {
    results::cell c = test::made_cell(plugin, 0, ms);
    c.kernel.variant = variant;
    c.time = test::rounds_apart({ms, odd * ms, 0.99 * ms, odd * ms, ms, odd * ms});
    c.time->stopped = stopped;
    d.cells.push_back(std::move(c));
  };
  using enum timing::stop;
  add("base", "any", 1, precise);
  add("fast", "BM8_BN-4", 0.5, precise);
  add("fast", "BM9_BN-4", 0.499, out_of_time, 1.02);
  add("fast", "BM16_BN-4", 0.45, slower);  // it was stopped before the clock went down
  add("fast", "BM32_BN-4", 0.7, budget);
  d.planned = d.cells.size();
  test::compare_with_baseline(d);
  return d;
}

std::string report_of(const results::document& d) {
  report::page p{report::view()};
  report::add_tuned(p, d);
  return p.take();
}

}  // namespace

TEST_CASE("the best kernel is one that was measured to the end, and ties are those near it",
          "[tune]") {
  const results::document d = tuned_document();
  const auto all = results::rank(d);
  REQUIRE(all.size() == 1);
  std::vector<std::string> ranked;
  for (const results::cell* c : all[0].ranked) ranked.push_back(c->kernel.variant);
  CHECK(ranked == std::vector<std::string>{"BM8_BN-4", "BM9_BN-4", "BM32_BN-4", "BM16_BN-4"});
  REQUIRE(all[0].ties.size() == 1);
  CHECK(all[0].ties[0]->kernel.variant == "BM9_BN-4");
  REQUIRE(all[0].open.size() == 1);
  CHECK(all[0].open[0]->kernel.variant == "BM32_BN-4");
  CHECK(results::exit_code_of_tuning(d) == 0);

  const std::string text = report_of(d);
  CHECK_THAT(text, ContainsSubstring("512x512x512 f32") && ContainsSubstring("fast:BM8_BN-4") &&
                       ContainsSubstring("2.00x (") && ContainsSubstring("fast:BM9_BN-4"));
  CHECK_THAT(text, ContainsSubstring("the budget was over before fast:BM32_BN-4 was decided"));
  CHECK_THAT(text, ContainsSubstring("cost: 2 points, compiled in 2.5 s (1 were in the cache) "
                                     "(1 do not compile)"));
}

TEST_CASE("a problem without a time has no best kernel, and tuning has failed", "[tune]") {
  results::document d = tuned_document();
  for (results::cell& c : d.cells) c.time.reset();
  CHECK(results::exit_code_of_tuning(d) == 1);
  CHECK_THAT(report_of(d), ContainsSubstring("--budget 60s was over before all 4 kernels"));
  d.experiment.timing.budget_seconds.reset();
  CHECK_THAT(report_of(d), ContainsSubstring("no kernel was timed; the reasons are above"));
}

TEST_CASE("the outcome of tuning is read as it was written", "[tune]") {
  const results::document d = tuned_document();
  const results::tuned t = results::tuned_of(d);
  const test::scratch_folder folder;
  const std::string text = storage::to_text(t), file = folder.write("t.json", text);
  const results::tuned again = storage::read_tuned(file);
  CHECK(storage::to_text(again) == text);
  REQUIRE(again.problems.size() == 1);
  const results::tuned_kernel& best = again.problems[0].ranked.at(0);
  CHECK(best.kernel.name() == "fast:BM8_BN-4");
  CHECK(best.parameters == results::tuning_point{{"BM", 8}, {"BN", -4}});
  CHECK(best.options == std::vector<std::string>{"-DBM=8", "-DBN=-4"});
  CHECK(again.problems[0].problem == d.experiment.problems[0]);

  const auto refused = [&](const std::string& from, const std::string& to) {
    return test::refusal_of(
        [&] { storage::read_tuned(folder.write("u.json", test::replaced(text, from, to))); });
  };
  CHECK_THAT(refused("kzoo.tuned/1", "kzoo.tuned/9"), ContainsSubstring("kzoo.tuned/9"));
  CHECK_THAT(refused("\"m\": 512", "\"m\": 0"), ContainsSubstring("problems[0].problem"));
  CHECK_THAT(refused("\"median_ms\": 0.5", "\"median_ms\": -1"), ContainsSubstring("from 0 on"));
  CHECK_THAT(refused("{", "["), ContainsSubstring("u.json"));
}

TEST_CASE("the interval of a kernel holds its median, however long its turns are", "[tune]") {
  results::document d = tuned_document();
  // The long turn has most samples, and the short ones most turns.
  std::vector<double> samples(100, 0.5);
  std::vector<int> rounds(100, 0);
  for (int round = 1; round < 12; ++round) {
    samples.push_back(0.8);
    rounds.push_back(round);
  }
  d.cells[1].time = timing::summarise(samples, rounds);
  d.cells[1].time->stopped = timing::stop::precise;
  const results::tuned outcome = results::tuned_of(d);
  for (const results::tuned_kernel& k : outcome.problems.at(0).ranked) {
    INFO(k.kernel.name());
    REQUIRE(k.interval_ms);
    CHECK(k.interval_ms->low <= k.median_ms);
    CHECK(k.median_ms <= k.interval_ms->high);
  }
}

TEST_CASE("a best kernel at the edge of the space, or without an interval, is said to be so",
          "[tune]") {
  results::document d = test::made_tuning();  // the best: BM4_BN16_K2
  CHECK_THAT(report_of(d),
             ContainsSubstring("no interval on 512x512x512 f32: tuned:BM4_BN16_K2 was timed in 3 "
                               "rounds, too few to say how sure its time is") &&
                 ContainsSubstring("at the edge on 512x512x512 f32: BM = 4 is the least, BN = 16 "
                                   "the largest, K = 2 the largest that was tried"));
  for (results::cell& c : d.cells) c.time = test::rounds_apart({1, 1, 1.01, 1, 0.99, 1});
  for (auto& point : d.plugins.back().tuned.points)
    for (auto& [name, value] : point.values) value = 1;
  CHECK_THAT(report_of(d), !ContainsSubstring("no interval") && !ContainsSubstring("at the edge"));
}
