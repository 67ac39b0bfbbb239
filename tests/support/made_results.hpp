#pragma once
// Made-up results with a value in every field.

#include "results/document.hpp"
#include "support/rounds_apart.hpp"

#include <algorithm>
#include <cmath>

namespace kzoo::test {

inline results::cell made_cell(const char* plugin, std::size_t problem, double ms) {
  results::cell c;
  c.problem = problem;
  c.device = "cuda:0";
  c.kernel = {plugin, "8x8_4x4"};
  c.declared = KZOO_COMPUTE_FP32;
  c.verdict = verdict::pass;
  c.accuracy = reference::accuracy{1.5e-6, 0.25, 0.125, 0.0625, 3, 4, 1e-7, 6.9, 512};
  c.time = rounds_apart({ms, 1.01 * ms, 0.99 * ms});
  c.time->caches = timing::caches::cold;
  c.time->sm_mhz = {1755, 0, 1740};
  c.end_to_end = timing::end_to_end{0.25, 1.5, 2, 0.75};
  c.conditions = {1755, 3201, 61, 512.5, {}, {"sw_power_cap"}};
  c.findings = {{"shapes", results::outcome::pass, "40 problems", {}},
                {"precision probe", results::outcome::skipped, "it declares tf32, not fp32", {}}};
  c.launches = {{{4, 2, 1}, {16, 16, 1}, 0, 33 * 1024, 8, 64, 24, 64}};
  return c;
}

// A run does this once a problem is timed.
inline void compare_with_baseline(results::document& d) {
  for (std::size_t i = 0; i < d.experiment.problems.size(); ++i) {
    const auto first = std::ranges::find(d.cells, i, &results::cell::problem);
    d.compare_with_baseline({first, d.cells_of(i).size()});
  }
}

inline results::document made_document() {
  results::document d;
  d.version = "0.1.0";
  d.host = "machine";
  d.invoked = {{"/plugins"}, true};
  d.planned = 6;
  d.started = "2026-01-02T03:04:05Z";
  d.wall_seconds = 1.25;
  d.notes = {"a note with \"quotes\" | and bars"};
  d.device.id = "cuda:0";
  d.device.name = "Some GPU";
  d.devices = {"cuda:0"};
  d.device.memory_bytes = 1ull << 40;
  d.device.facts = {{"runtime", "13.0"}, {"max_clock_mhz", "1980"}};

  auto& e = d.experiment;
  e.file = "/somewhere/made.toml";
  e.text = "title = 'Made'\n[problem]\nsizes = [512, 1024]\n";
  e.title = "Made";
  e.intended_device = "GPU";
  e.baseline = selector{"base", {}};
  e.timing = {true, results::cache_mode::both, results::power_mode::both, 3, 2, 7, 0.05, 1.5, true};
  e.verify = {tier::full, 12.5};
  e.overridden = {"cuda:0", {"base", "fast"}, {"512", "1024"}, "full"};
  e.overridden.baseline = "base";
  e.overridden.budget_seconds = e.timing.budget_seconds = 60;
  e.timing.drop_slower = true;
  e.published = {"a paper",
                 {{"Old GPU", {{"fast@512x512x512", 1.5}}},
                  {"New GPU", {{"fast:8x8_4x4@512x512x512", 0.5}, {"base@512x512x512", 0.25}}}}};
  e.problems.resize(2);
  e.problems[0].m = e.problems[0].n = e.problems[0].k = 512;
  e.problems[1] = {1024, 1024, 1024, KZOO_F16, 0.7, 1.3, fill::integers, 3, 42};

  results::plugin_record base{"base", "/plugins/base.so", results::plugin_description{}, "",
                              "00ff"};
  base.description->id = "base";
  base.description->summary = "the | baseline";
  base.description->build_info = "nvcc";
  base.description->native = true;
  results::plugin_record fast = base;
  fast.name = fast.description->id = "fast";
  fast.source = "/sources/fast.cu";
  fast.tuned = {{{"BM8_BN-4", {{"BM", 8}, {"BN", -4}}, "", {"-DBM=8", "-DBN=-4"}},
                 {"BM9_BN-4", {{"BM", 9}, {"BN", -4}}, "does not compile: error", {}}},
                1,
                2.5};
  d.plugins = {base, fast, {"gone", "", {}, "there is no cuda build of it here", ""}};

  for (const std::size_t problem : {0u, 1u}) {
    d.cells.push_back(made_cell("base", problem, 1));
    d.cells.push_back(made_cell("fast", problem, 0.5));
    d.cells.back().hot_time = timing::summarise({0.25, 0.25, 0.26}, {0, 0, 1});
    d.cells.back().hot_time->caches = timing::caches::hot;
    d.cells.back().sustained = results::sustained{
        timing::summarise({0.5, 0.5, 0.52}, {0, 1, 2}), 3.5, true, 400, 410.5, 0.02, ""};
    results::cell gone;
    gone.problem = problem;
    gone.device = "cuda:0";
    gone.kernel.plugin = "gone";
    gone.verdict = verdict::unavailable;
    gone.reason = d.plugins[2].problem;
    d.cells.push_back(gone);
  }
  d.cells[1].time->throttled = 2;
  d.cells[1].time->low_clock = true;
  d.cells[1].time->stopped = timing::stop::slower;
  d.cells[1].judge_seconds = 0.125;
  d.cells[1].time_seconds = 0.5;
  results::cell& wrong = d.cells[4];
  wrong.verdict = verdict::wrong;
  wrong.reason = "element (1, 2) is nan";
  wrong.errors =
      reference::error_map{2, 3, {"..x", "..."}, {{1, 2, 0.5, NAN, false}, {1, 5, 0.25, 0, true}}};
  wrong.findings = {{"repeats", results::outcome::fail, "run 2 is \"wrong\"", wrong.errors},
                    {"seeds", results::outcome::crashed, "SIGSEGV", {}},
                    {"interleaving", results::outcome::hung, "no answer within 5 s", {}}};
  wrong.time.reset();
  wrong.hot_time.reset();
  wrong.sustained.reset();
  wrong.accuracy->max_abs_error = NAN;
  wrong.accuracy->max_rho = INFINITY;
  d.cells[1].differences = {{0, {1e-6, 0.5, 1, 2, true}}};
  d.cells[4].differences = {{0, {NAN, NAN, 5, 6, false}}};
  compare_with_baseline(d);
  return d;
}

// A baseline, and a kernel in four configurations of three parameters.
inline results::document made_tuning() {
  results::document d = made_document();
  d.experiment.problems.resize(1);
  d.cells.resize(1);
  results::plugin_record tuned;
  tuned.name = "tuned";
  const auto add = [&](std::int64_t bm, std::int64_t bn, std::int64_t k, double ms) {
    const results::tuning_point point{{"BM", bm}, {"BN", bn}, {"K", k}};
    tuned.tuned.points.push_back({results::point_name(point), point, ""});
    d.cells.push_back(made_cell("tuned", 0, ms));
    d.cells.back().kernel.variant = tuned.tuned.points.back().name;
  };
  add(4, 8, 1, 2);
  add(4, 16, 1, 1.6);
  add(4, 16, 2, 1);
  add(8, 8, 2, 4);
  d.plugins.push_back(std::move(tuned));
  compare_with_baseline(d);
  return d;
}

}  // namespace kzoo::test
