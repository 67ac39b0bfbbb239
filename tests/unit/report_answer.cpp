// What a run comes to: the sentence that a page begins with, and the kernels that it is about.
#include "report/focus.hpp"
#include "support/catch.hpp"
#include "support/made_results.hpp"

#include <algorithm>
#include <string>

using namespace kzoo;
using namespace kzoo::test;
using report::answer_of;
using report::focus_of;
using report::limits_of;
using results::document;

namespace {

// `plugins` kernels of the program's own on problems of these sizes; each takes 1 ms less than the
// one before it. The first is the baseline.
document run_of(const std::vector<std::string>& plugins, const std::vector<std::int64_t>& sizes) {
  document d = made_document();
  d.invoked = {};
  d.notes.clear();
  d.cells.clear();
  d.plugins.clear();
  d.experiment.baseline = selector{plugins.front(), {}};
  d.experiment.problems.assign(sizes.size(), d.experiment.problems[0]);
  for (const std::string& name : plugins) {
    results::plugin_record r{name, "/zoo/plugins/cuda/" + name + ".so", {}, "", "00"};
    r.description.emplace();
    d.plugins.push_back(r);
  }
  for (std::size_t p = 0; p < sizes.size(); ++p) {
    problem& of = d.experiment.problems[p];
    of.m = of.n = of.k = sizes[p];
    for (std::size_t i = 0; i < plugins.size(); ++i)
      d.cells.push_back(made_cell(plugins[i].c_str(), p, 10 - double(i)));
  }
  d.planned = d.cells.size();
  compare_with_baseline(d);
  return d;
}

std::string speed_of(const document& d) { return answer_of(d, focus_of(d)).speed; }
std::string table_of(const document& d) {
  return report::focus_table(d, focus_of(d), report::medium::text).str(false);
}

}  // namespace

TEST_CASE("authors' plugins are those from a source or from another folder", "[results]") {
  const auto is_authors = [](const char* file, const char* source = "") {
    return results::is_authors({"p", file, {}, "", "", source},
                               {"/home/plugins", "mine/plugins/cuda"});
  };
  CHECK_FALSE(is_authors("/usr/lib/kernel-zoo/plugins/cuda/p.so"));
  CHECK_FALSE(is_authors("build/release/plugins/cpu/p.so"));
  CHECK(is_authors("/root/.cache/kernel-zoo/1f/p.so", "/home/mine/p.cu"));
  CHECK(is_authors("/root/.cache/kernel-zoo/1f/p.so"));
  CHECK(is_authors("/home/plugins/cuda/p.so"));
  CHECK(is_authors("mine/plugins/cuda/p.so"));
  CHECK_FALSE(is_authors(""));  // there is no library
}

TEST_CASE("the answer names the fastest kernel and how sure that is", "[report]") {
  document d = run_of({"base", "slow", "fast"}, {512});
  CHECK(focus_of(d).subject.empty());
  CHECK(answer_of(d, focus_of(d)).verdicts == "3 pass");
  CHECK(answer_of(d, focus_of(d)).right);
  CHECK(speed_of(d) ==
        "Fastest on 512x512x512 f32: fast:8x8_4x4, 1.25x as fast as base:8x8_4x4; 8.00 ms, 33.6 "
        "GFLOP/s.");
  d.cells[2].speedup->likely = timing::interval{1.2, 1.3};
  CHECK_THAT(speed_of(d), ContainsSubstring("(95 % interval 1.20x to 1.30x)"));
  d.cells[2].speedup->likely = timing::interval{0.9, 1.3};
  CHECK_THAT(speed_of(d),
             ContainsSubstring("fast:8x8_4x4, 1.25x as fast as base:8x8_4x4, a tie (95 %"));
  // The baseline is compared with the next one.
  d.cells[0].time = rounds_apart({1, 1.01, 0.99});
  CHECK_THAT(speed_of(d), ContainsSubstring("base:8x8_4x4, 8.00x as fast as fast:8x8_4x4"));
}

TEST_CASE("the answer does not rank precisions without saying so", "[report]") {
  document d = run_of({"base", "slow", "fast"}, {512, 1024});
  for (const std::size_t of_fast : {2U, 5U}) d.cells[of_fast].declared = KZOO_COMPUTE_TF32;
  CHECK_THAT(speed_of(d), ContainsSubstring("1.25x as fast as base:8x8_4x4 (tf32 vs fp32)"));
  CHECK(speed_of(d).ends_with("2 of 2 problems, among kernels of several precisions."));
  d.plugins[1].source = "/home/mine/slow.cu";  // in fp32, behind one in tf32
  CHECK_THAT(speed_of(d), ContainsSubstring("place 2 of 3, in several precisions."));
  CHECK_THAT(table_of(d), ContainsSubstring("2 of 3, in several precisions"));
  d.experiment.baseline.reset();
  for (results::cell& c : d.cells) c.speedup.reset();
  CHECK_THAT(speed_of(d), ContainsSubstring("as fast as fast:8x8_4x4 (fp32 vs tf32)"));
}

TEST_CASE("over several problems the answer counts", "[report]") {
  document d = run_of({"base", "slow", "fast"}, {512, 1024});
  CHECK(speed_of(d).starts_with("Fastest on 1024x1024x1024 f32: fast"));
  CHECK(speed_of(d).ends_with(" fast is the fastest on 2 of 2 problems."));
  CHECK_THAT(table_of(d), ContainsSubstring("fast          1.25x  1.25x"));
  d.cells[2].time = rounds_apart({20, 20.2, 19.8});
  CHECK(
      speed_of(d).ends_with(" fast is the fastest on 1 of 2 problems, at worst 0.450x as fast as "
                            "slow:8x8_4x4 (on 512x512x512 f32)."));
}

TEST_CASE("what failed comes first, by name", "[report]") {
  document d = run_of({"base", "bad", "fast"}, {512, 1024});
  for (results::cell* c : {&d.cells[1], &d.cells[4]}) {
    c->verdict = verdict::wrong;
    c->reason = "all in row 40";
    c->time.reset();
    c->speedup.reset();
  }
  d.cells[5].verdict = verdict::hung;
  d.cells[5].time.reset();
  d.planned = 8;
  const report::answer a = answer_of(d, focus_of(d));
  CHECK(a.verdicts ==
        "3 pass, 2 wrong, 1 hung, 2 of 8 cells not run: bad:8x8_4x4 on 2 problems, fast:8x8_4x4 on "
        "1024x1024x1024 f32");
  CHECK_FALSE(a.right);
  REQUIRE(a.failures.size() == 2);
  CHECK(a.failures[0] == "bad:8x8_4x4 on 512x512x512 f32: all in row 40");
}

TEST_CASE("one new kernel is what the answer is about", "[report]") {
  document d = run_of({"base", "other", "mine"}, {512, 1024});
  d.plugins[2].source = "/home/mine/mine.cu";
  CHECK(focus_of(d).subject == "mine");
  CHECK(speed_of(d).starts_with("mine:8x8_4x4 is 1.25x as fast as base:8x8_4x4 on 1024x1024"));
  CHECK_THAT(speed_of(d),
             ContainsSubstring("place 1 of 3. Over 2 problems it is 1.25x (on 512x512x512 "
                               "f32) to 1.25x (on 1024x1024x1024 f32) as fast as base: "
                               "faster on 2."));
  const std::string table = table_of(d);  // a row for each problem, none for others
  CHECK_THAT(table, ContainsSubstring("512x512x512 f32"));
  CHECK_THAT(table, !ContainsSubstring("other"));
  CHECK_THAT(table, ContainsSubstring("regs"));
  // The one kernel beside the baseline is new, too.
  CHECK(focus_of(run_of({"base", "fast"}, {512})).subject == "fast");
  // Of several, no one is.
  d.plugins[1].source = "/home/mine/other.cu";
  CHECK(focus_of(d).subject.empty());
  CHECK(speed_of(d).starts_with("Fastest of the new kernels on 1024x1024x1024 f32: mine"));
}

TEST_CASE("each figure of the answer is of the kernel that it names, losses too", "[report]") {
  document d = run_of({"base", "mine"}, {512, 1024});
  d.plugins[1].source = "/home/mine/mine.cu";
  // Another variant, which is the faster one on the first problem and was stopped on the second.
  for (const std::size_t problem : {0U, 1U}) {
    d.cells.push_back(made_cell("mine", problem, 5));
    d.cells.back().kernel.variant = "small";
  }
  d.cells[1] = made_cell("mine", 0, 20);
  d.cells[5].time->stopped = timing::stop::slower;
  std::ranges::stable_sort(d.cells, {}, &results::cell::problem);
  compare_with_baseline(d);
  CHECK_THAT(
      speed_of(d),
      ContainsSubstring("mine:8x8_4x4 is 1.11x as fast as base:8x8_4x4 on 1024x1024x1024") &&
          ContainsSubstring("Over 2 problems it is 0.500x (on 512x512x512 f32) to 1.11x (on "
                            "1024x1024x1024 f32) as fast as base: faster on 1, slower on 1."));
}

TEST_CASE("figures over problems need no baseline on the largest", "[report]") {
  document d = run_of({"base", "mine"}, {512, 1024, 2048});
  d.plugins[1].source = "/home/mine/mine.cu";
  d.cells[4].verdict = verdict::error;
  d.cells[4].time.reset();
  d.cells[5].speedup.reset();
  compare_with_baseline(d);
  CHECK_THAT(speed_of(d), ContainsSubstring("Over 2 problems it is 1.11x (on 512x512x512 f32)"));
}

TEST_CASE("a kernel is not held to a roofline of memory alone", "[report]") {
  document d = run_of({"base", "mine"}, {512});
  d.device.facts.clear();
  d.peaks.emplace();
  d.peaks->all = {{roofline::resource::fp32, "made", {1e12, 0}, 0, {}},
                  {roofline::resource::read, "made", {1e9, 0}, 0, {}}};
  results::cell& mine = d.cells[1];
  CHECK_THAT(limits_of(d, mine).front(), ContainsSubstring("% of what the roofline allows: "));
  CHECK_THAT(table_of(d), ContainsSubstring("of roofline"));
  d.cells[0].declared = mine.declared = KZOO_COMPUTE_FP8;
  CHECK_THAT(
      limits_of(d, mine).front(),
      ContainsSubstring("No measured peak bounds its fp8 arithmetic. Memory traffic alone "
                        "takes at least 35 % of its time: 3.15 ms, 3.15 MB at the measured"));
  CHECK_THAT(table_of(d), !ContainsSubstring("of roofline"));
}

TEST_CASE("no kernel is called fast by the simulator", "[report]") {
  document d = run_of({"base", "fast"}, {512});
  for (results::cell& c : d.cells) c.time->clock = timing::clock::simulator;
  CHECK(
      speed_of(d) ==
      "fast is right on 1 of 1 problems. Checked in the simulator, which does not tell how fast a "
      "kernel is on a GPU.");
  d.cells[1].verdict = verdict::wrong;
  CHECK(speed_of(d).starts_with("fast is right on 0 of 1 problems. "));
  CHECK_THAT(table_of(d), !ContainsSubstring(" ms"));
  // Nor are times asked for where it alone is there.
  d.experiment.timing.enabled = false;
  CHECK(speed_of(d).ends_with("which does not tell how fast a kernel is on a GPU."));
  for (results::cell& c : d.cells) c.time.reset();
  CHECK(speed_of(d).ends_with("No times were asked for."));
  for (results::plugin_record& p : d.plugins) p.description->device = KZOO_CPU;
  CHECK(speed_of(d).ends_with("which does not tell how fast a kernel is on a GPU."));
}

TEST_CASE("another precision is named where speeds are compared", "[report]") {
  document d = run_of({"base", "slow", "fast"}, {512});
  d.cells[2].declared = KZOO_COMPUTE_TF32;
  CHECK_THAT(speed_of(d), ContainsSubstring("GFLOP/s, in tf32."));
  for (results::cell& c : d.cells) c.declared = KZOO_COMPUTE_TF32;
  CHECK_THAT(speed_of(d), !ContainsSubstring("in tf32"));
  // Without a baseline the next one is the measure; alone, fp32 is.
  d.experiment.baseline.reset();
  d.cells[1].declared = KZOO_COMPUTE_FP32;
  CHECK_THAT(speed_of(d), ContainsSubstring("GFLOP/s, in tf32."));
  d.cells.erase(d.cells.begin(), d.cells.begin() + 2);
  CHECK_THAT(speed_of(d), ContainsSubstring("GFLOP/s, in tf32."));
  d.experiment.problems[0].dtype = KZOO_F16;
  CHECK_THAT(speed_of(d), !ContainsSubstring("in tf32"));
}

TEST_CASE("a new kernel that was not timed is not said of all", "[report]") {
  document d = run_of({"base", "mine", "other"}, {512, 1024});
  d.plugins[1].source = "/home/mine/mine.cu";
  for (results::cell& c : d.cells) {
    if (c.kernel.plugin != "mine") continue;
    c.verdict = verdict::wrong;
    c.time.reset();
    c.speedup.reset();
  }
  CHECK(speed_of(d) == "mine is right on 0 of 2 problems. It was not timed.");
  d.cells[5].verdict = verdict::wrong;
  d.cells[5].time.reset();
  d.plugins[2].source = "/home/mine/other.cu";
  // The problem is one on which a new kernel was timed, not that of the most kernels.
  CHECK(speed_of(d).starts_with("Fastest of the new kernels on 512x512x512 f32: other"));
  d.cells[2].time.reset();
  CHECK(speed_of(d) == "None of the new kernels was timed.");
  for (results::cell& c : d.cells) c.time.reset();
  CHECK(speed_of(d) == "Nothing was timed.");
}

TEST_CASE("a source that declined every problem is what the answer is about", "[report]") {
  document d = run_of({"base", "other", "mine"}, {512, 1024});
  d.plugins[2].source = "/home/mine/mine.cu";
  for (results::cell& c : d.cells) {
    if (c.kernel.plugin != "mine") continue;
    c.verdict = verdict::unsupported;
    c.time.reset();
    c.speedup.reset();
  }
  CHECK(focus_of(d).subject == "mine");
  const report::answer a = answer_of(d, focus_of(d));
  CHECK_FALSE(a.right);
  CHECK(a.failures == std::vector<std::string>{"mine declined every problem"});
  CHECK(a.speed == "mine was judged on no problem. It was not timed.");
  CHECK_THAT(table_of(d), ContainsSubstring("other"));  // since there is no row of its own
  d.planned += 1;                                       // it may not have been its turn
  CHECK(answer_of(d, focus_of(d)).failures.empty());
}

TEST_CASE("speedups without a baseline are not shown", "[report]") {
  document d = run_of({"base", "slow", "fast"}, {512, 1024});
  d.experiment.baseline.reset();
  CHECK_THAT(table_of(d), ContainsSubstring("GFLOP/s, f32"));
  CHECK(speed_of(d).starts_with(
      "Fastest on 1024x1024x1024 f32: fast:8x8_4x4, 1.12x as fast as slow"));
}
