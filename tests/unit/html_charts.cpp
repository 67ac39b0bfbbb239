// Which charts a page has, and where their labels stand.
#include "html/charts.hpp"
#include "os/text.hpp"
#include "storage/results_json.hpp"
#include "support/catch.hpp"
#include "support/made_results.hpp"
#include "support/paths.hpp"
#include "support/text.hpp"

#include <span>
#include <string>
#include <vector>

using namespace kzoo;
using namespace kzoo::test;
using results::document;

namespace {

document stored(const char* name) {
  return storage::read(source_folder() / "docs" / "results" / name);
}

// A result as a page shows it.
class shown {
 public:
  explicit shown(const document& d, const std::map<std::string, std::string>& steps = {})
      : result_{"r", &d, nullptr, "", steps}, cells_(html::plot(all())) {}

  std::span<const html::named_result> all() const { return {&result_, 1}; }
  std::vector<html::plotted> cells() const { return cells_; }
  std::vector<html::json> charts() const { return html::choose_charts(all(), cells_); }

 private:
  html::named_result result_;
  std::vector<html::plotted> cells_;
};

std::string charts_of(const document& d) {
  return joined(shown(d).charts(), " ", [](const html::json& c) -> std::string { return c["id"]; });
}

// Without errors, times, clocks and checks that charts are of.
document plain(std::size_t problems) {
  document d = made_document();
  d.experiment.problems.resize(1);
  d.experiment.problems.resize(problems, d.experiment.problems[0]);
  d.cells.clear();
  for (std::size_t p = 0; p < problems; ++p) {
    for (const char* plugin : {"base", "fast", "other"}) {
      d.cells.push_back(made_cell(plugin, p, 1));
      d.cells.back().accuracy.reset();
      d.cells.back().conditions = {};
    }
  }
  compare_with_baseline(d);
  return d;
}

document cubes(const std::vector<std::int64_t>& sizes) {
  document d = plain(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    problem& p = d.experiment.problems[i];
    p.m = p.n = p.k = sizes[i];
  }
  return d;
}

}  // namespace

TEST_CASE("one size has no chart over sizes, and several have one", "[html]") {
  document d = plain(1);
  CHECK(charts_of(d) == "speed samples");
  d = plain(2);
  CHECK(charts_of(d) == "speed samples");  // twice the same size
  d = cubes({512, 1024});
  CHECK(charts_of(d) == "speed samples");  // two dots are no line
  d = cubes({512, 1024, 2048});
  CHECK(charts_of(d) == "speed relative rate samples");
  d.experiment.problems[1].dtype = KZOO_F16;  // a size of another family
  CHECK(charts_of(d) == "speed samples");
  d = cubes({512, 1024, 2048});
  d.experiment.problems[2].n = 64;  // of another shape
  CHECK(charts_of(d) == "speed samples");
}

TEST_CASE("nothing of the simulator's times is drawn", "[html]") {
  document d = plain(2);
  d.experiment.problems[1].m = 4096;
  for (results::cell& c : d.cells) c.time->clock = timing::clock::simulator;
  CHECK(charts_of(d).empty());
}

TEST_CASE("an author's plugin without a time has no chart of others' times", "[html]") {
  document d = plain(1);
  d.invoked = {};
  for (results::plugin_record& r : d.plugins) r.file = "/zoo/plugins/cpu/" + r.name + ".so";
  d.plugins[1].source = "/home/fast.cu";
  CHECK(charts_of(d) == "speed samples");
  d.cells[1].time->clock = timing::clock::simulator;
  CHECK(charts_of(d).empty());
}

TEST_CASE("what was tuned is a map of the fastest points by two parameters", "[html]") {
  document d = made_tuning();
  CHECK(charts_of(d).starts_with("space "));
  const html::chart_rows rows = html::space_rows(shown(d).all());
  REQUIRE(rows.size() == 3 + 3 + 4);  // the values of each pair
  const auto has = [&](const std::string& words) {
    return std::ranges::count_if(
        rows, [&](const html::json& row) { return contains(row.dump(), words); });
  };
  CHECK(has("BM and BN, ") == 3);
  CHECK(
      has(R"("across":"BM 4","down":"BN 16","across_value":4,"down_value":16,"percent":100.0,"text":"100",)"
          R"("kernel":"tuned:BM4_BN16_K2","time_text":"1.00 ms")") == 1);  // K is at its best
  CHECK(has(R"("BM 4","down":"BN 8","across_value":4,"down_value":8,"percent":50.0,)") == 1);
  CHECK(has(R"("BM 8","down":"BN 8","across_value":8,"down_value":8,"percent":25.0,)") == 1);
  // The slowest is a quarter as fast in each: as they are declared.
  CHECK(contains(rows.at(0)["space"], "BM and BN"));
  d.cells.resize(3);  // BM 4 alone: nothing is left to compare but BN
  CHECK(html::space_rows(shown(d).all()).empty());
}

TEST_CASE("a ladder has steps", "[html]") {
  const document d = stored("h200-ladder.json");
  const auto first = [&](const std::map<std::string, std::string>& steps) {
    return shown(d, steps).charts().front();
  };
  CHECK(first({})["title"] == "Speed");
  CHECK(first({{"smem", "fp32"}})["title"] == "Speed");
  CHECK(first({{"smem", "fp32"}, {"float4", "tensor_cores"}})["title"] == "Speed");
  const std::map<std::string, std::string> steps{{"smem", "fp32"}, {"float4", "fp32"}};
  CHECK(first(steps)["title"] == "The ladder");
  CHECK_THAT(first(steps)["note"].get<std::string>(),
             ContainsSubstring("each step against the one before it"));
  for (const html::plotted& p : shown(d, steps).cells()) {
    if (p.row["gain_text"] == "") continue;
    CHECK(p.cell->kernel.name() == "float4:128x128x8_8x8");
    CHECK(p.row["gain_text"] == "4.31x as fast");  // 15.8 ms and 3.67 ms
  }
}

TEST_CASE("a step's gain is a ratio within the rounds, and may be a tie", "[html]") {
  const document d = stored("h200-sizes.json");
  // By their medians warp_tiles is 0.5 % faster at 16384, which the rounds do not bear out.
  int gains = 0;
  for (const auto& [r, c, row] :
       shown(d, {{"double_buffer", "fp32"}, {"warp_tiles", "fp32"}}).cells()) {
    if (row["gain_text"] == "" || d.problem_of(*c).m != 16384) continue;
    ++gains;
    CHECK(row["gain_text"] == "tie");
  }
  CHECK(gains == 1);
}

TEST_CASE("agreement is a chart where some disagree, accuracy over several K", "[html]") {
  document d = plain(1);
  d.cells[1].differences = {{0, {1e-6, 0.5, 1, 2, true}}};
  CHECK(charts_of(d) == "speed samples");
  d.cells[1].differences[0].by.agree = false;
  CHECK(charts_of(d) == "speed agreement samples");
  d.cells[2].errors = reference::error_map{1, 1, {"."}, {}};
  CHECK(charts_of(d) == "errors speed agreement samples");
  CHECK(charts_of(stored("h200-sizes.json")) ==
        "speed relative rate roofline accuracy clock power samples sample-clocks");
}

TEST_CASE("speed is in percent of the baseline where all is compared with one", "[html]") {
  document d = plain(1);
  const auto axis = [&] { return shown(d).charts().front()["axis"]; };
  const auto row = [&] { return shown(d).cells()[1].row; };
  CHECK(axis() == "% of base");
  CHECK(row()["bar"] == 100);
  CHECK(row()["bar_from"] == 100);  // rates that crowd have an axis of their own
  d.cells[1].time = rounds_apart({4, 4, 4});
  d.cells[1].speedup.reset();
  compare_with_baseline(d);
  CHECK(row()["bar"] == 25);
  CHECK(row()["bar_from"] == 0);
  const document as_it_stood = d;
  d.experiment.baseline.reset();
  CHECK(axis() == "GFLOP/s");
  CHECK(row()["bar"] == *d.gflops(d.cells[1]));
  d = as_it_stood;
  d.cells[1].speedup.reset();
  CHECK(axis() == "GFLOP/s");
}

TEST_CASE("results with different baselines share an axis that names none", "[html]") {
  document a = cubes({512, 1024, 4096});
  document b = a;
  const std::vector<html::named_result> both{{"a", &a}, {"b", &b}};
  const auto axis = [&] {
    const auto charts = html::choose_charts(both, html::plot(both));
    return std::ranges::find_if(charts, [](const html::json& c) { return c["id"] == "relative"; })
        ->at("axis");
  };
  CHECK(axis() == "% of base");
  b.experiment.baseline = selector{"fast:*", {}};
  CHECK(axis() == "% of the baseline of each result");
  a.experiment.baseline.reset();
  CHECK(axis() == "% of fast");
}

TEST_CASE("the authors' plugins and the baseline have colours, or the fastest", "[html]") {
  document d = plain(1);
  using tones = std::map<std::string, std::string>;
  d.plugins[1].source = "/home/fast.cu";
  d.plugins[1].file = "/cache/fast.so";
  d.invoked = {};
  CHECK(html::tones_of(d) == tones{{"base", "baseline"}, {"fast", "a"}});
  for (results::plugin_record& r : d.plugins) r.source.clear();
  for (results::plugin_record& r : d.plugins) r.file = "/zoo/plugins/cuda/" + r.name + ".so";
  d.cells[2].time = rounds_apart({0.5, 0.5, 0.5});
  CHECK(html::tones_of(d) == tones{{"base", "baseline"}, {"other", "a"}});
  // Its lines in two precisions are two series.
  d = cubes({512, 1024});
  d.invoked = {};
  for (results::plugin_record& r : d.plugins) r.file = "/zoo/plugins/cuda/" + r.name + ".so";
  d.cells[4].declared = KZOO_COMPUTE_TF32;
  CHECK(html::tones_of(d) ==
        tones{{"base", "baseline"}, {"fast (fp32)", "a"}, {"fast (tf32)", "b"}});
}

TEST_CASE("labels are moved apart, as little as that takes", "[html]") {
  using places = std::vector<double>;
  CHECK(html::moved_apart({1, 5, 9}, 2) == places{1, 5, 9});
  CHECK(html::moved_apart({4, 4}, 2) == places{3, 5});
  CHECK(html::moved_apart({1, 4, 4, 4}, 2) == places{0.25, 2.25, 4.25, 6.25});
  CHECK(html::moved_apart({}, 2).empty());
}

TEST_CASE("of one plugin's lines that end in one place one has a label", "[html]") {
  const document d = stored("h200-tensor.json");
  int labels = 0;
  for (const html::plotted& p : shown(d).cells())
    labels += p.row["roofline_label"].is_null() ? 0 : 1;
  CHECK(labels == 2);  // persistent and cublas, each in f16 and in bf16
}

TEST_CASE("a roofline has a roof", "[html]") {
  document d = stored("h200-sizes.json");
  CHECK_THAT(charts_of(d), ContainsSubstring("roofline"));
  for (results::cell& c : d.cells) c.declared = KZOO_COMPUTE_FP8;  // which is not measured
  CHECK_THAT(charts_of(d), !ContainsSubstring("roofline"));
}

TEST_CASE("roofs reach as far as what is drawn below them", "[html]") {
  const document d = stored("h200-sizes.json");
  const html::chart_rows rows = html::roof_rows(shown(d).all());
  REQUIRE(rows.size() == 2);
  for (const html::json& row : rows) CHECK(row["precision"] == "fp32");
  CHECK(int(rows[0]["intensity"]) == 98);
  CHECK(int(rows[1]["intensity"]) == 3620);
}
