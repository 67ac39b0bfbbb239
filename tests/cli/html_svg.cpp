// `runner report --svg`: the page's charts as files.
#include "html/charts.hpp"
#include "os/places.hpp"
#include "storage/results_json.hpp"
#include "support/browser.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"
#include "support/text.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace kzoo;
using namespace kzoo::test;
namespace fs = std::filesystem;

namespace {

const fs::path kDocs = source_folder() / "docs";

void need_vega() {
  if (!html::find_library(charts_folders()))
    skip("the charting library is not here: ./zoo setup --charts");
}

// The charts of a stored result, into a folder.
run_result draw(const std::string& result, const fs::path& folder,
                const std::string& environment = "") {
  const fs::path file = kDocs / "results" / (result + ".json");
  return runner("report " + shell_word(file) + " --svg " + shell_word(folder), environment);
}

// What the room decides that a chart has: as much as the window, or the width of a file.
void erase_room(nlohmann::json& part) {
  if (part.is_object()) {
    for (const char* name : {"width", "autosize", "columns", "labelLimit"}) part.erase(name);
  }
  if (part.is_structured())
    for (auto& each : part) erase_room(each);
}

// The part of an SVG file that draws the marks of a class.
std::string marks(const std::string& svg, const std::string& kind) {
  const auto begin = svg.find("class=\"" + kind + " role-mark");
  return begin == std::string::npos ? "" : svg.substr(begin, svg.find("</g>", begin) - begin);
}

}  // namespace

TEST_CASE("without the charting library --svg says how to get it", "[cli]") {
  const scratch_folder folder;
  const auto ran =
      draw("h200-ladder", folder.path() / "charts", "XDG_DATA_HOME=/nowhere KZOO_CHARTS=/nowhere");
  CHECK(ran.code == 2);
  CHECK_THAT(ran.err, ContainsSubstring("./zoo setup --charts"));
  CHECK_FALSE(fs::exists(folder.path() / "charts"));
}

TEST_CASE("without python3 --svg says what it is for", "[cli][.charts]") {
  need_vega();
  const scratch_folder folder;
  const auto ran = draw("h200-ladder", folder.path() / "charts", "PATH=/nowhere");
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, ContainsSubstring("--svg needs python3"));
}

TEST_CASE("an SVG file has every series of its chart, in its own colours", "[cli][.charts]") {
  need_vega();
  const scratch_folder folder;
  const fs::path to = folder.path() / "charts";
  const auto ran = draw("h200-sizes", to);
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  CHECK_THAT(ran.out, ContainsSubstring("rate-light.svg\nrate-dark.svg\n"));
  const std::string rate = read_text(to / "rate-light.svg");
  // Each line is labelled at its end.
  for (const char* plugin : {"register_tiles", "float4", "pipelined", "cublas"})
    CHECK_THAT(rate, ContainsSubstring(">" + std::string(plugin) + "</text>"));
  CHECK(count_of(rate, "class=\"mark-line role-mark") == 11);
  CHECK(count_of(marks(rate, "mark-symbol"), "<path") == 11 * 6);
  const std::string ladder = read_text(to / "speed-light.svg");
  CHECK(count_of(marks(ladder, "mark-rect"), "<path") == 11);
  CHECK_THAT(ladder, ContainsSubstring(">pipelined:128x256x16_s5</text>"));
  const std::string dark = read_text(to / "speed-dark.svg");
  CHECK(dark != ladder);
  CHECK(dark.size() == ladder.size());
  for (const std::string* text : {&rate, &ladder, &dark}) {
    CHECK(text->find("var(") == std::string::npos);
    CHECK(text->size() < 60'000);
  }
}

TEST_CASE("a page and SVG files have the same specifications", "[cli][.browser]") {
  need_vega();
  if (!browser::exists()) skip("there is no chromium-headless-shell");
  const scratch_folder folder;
  std::vector<results::document> all;
  std::string files;
  for (const fs::path& file : {kDocs / "results" / "h200-sizes.json",
                               source_folder() / "tests" / "fixtures" / "quick-cpu.json"}) {
    all.push_back(storage::read(file));
    files += shell_word(file) + ' ';
  }
  const auto page_file = (folder.path() / "out.html").string();
  REQUIRE(runner("report " + files + "--html " + page_file).code == 0);
  browser page(1400);
  page.open(page_file, "document.documentElement?.dataset.complete !== undefined");
  const auto labels =
      page.evaluate("[...document.querySelectorAll('h2')].slice(0, 2).map((h) => h.textContent)");
  nlohmann::json specifications = nlohmann::json::parse(html::chart_specifications(
      std::vector<html::named_result>{{labels.at(0), &all[0], nullptr, "", ladder_steps()},
                                      {labels.at(1), &all[1], nullptr, "", ladder_steps()}}));
  CHECK(specifications.size() >= 9);
  for (auto& [name, of_file] : specifications.items()) {
    INFO(name);
    const auto of_page = page.evaluate("JSON.stringify(document.getElementById('chart-" + name +
                                       "')?.specification ?? null)");
    nlohmann::json drawn = nlohmann::json::parse(of_page.get<std::string>());
    erase_room(drawn);
    erase_room(of_file);
    CHECK(nlohmann::json::diff(drawn, of_file) == nlohmann::json::array());
  }
}

TEST_CASE("the charts in the documents are what their results say", "[cli][.charts]") {
  need_vega();
  int files = 0;
  for (const auto& entry : fs::directory_iterator(kDocs / "charts")) {
    if (entry.path().filename().string().find("-light.svg") == std::string::npos) continue;
    // RESULT.CHART-light.svg
    const std::string name = entry.path().filename().string();
    const std::string result = name.substr(0, name.find('.')),
                      chart = name.substr(result.size() + 1);
    const scratch_folder folder;
    REQUIRE(draw(result, folder.path()).code == 0);
    const std::string base = chart.substr(0, chart.rfind("light.svg"));
    for (const std::string shade : {"light.svg", "dark.svg"}) {
      const fs::path file = kDocs / "charts" / (result + "." + base + shade);
      const std::string right = read_text(folder.path() / (base + shade));
      if (std::getenv("KZOO_UPDATE_DOCS") != nullptr) std::ofstream(file) << right;
      INFO(file << " is not what its result says; "
                << "KZOO_UPDATE_DOCS=1 ./zoo test -R charts writes it anew");
      CHECK((read_text(file) == right));
      ++files;
    }
  }
  CHECK(files > 0);
}
