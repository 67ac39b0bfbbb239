// `runner report --html`: what is in the page, and what a browser makes of it.
#include "html/page.hpp"
#include "storage/results_json.hpp"
#include "support/browser.hpp"
#include "support/catch.hpp"
#include "support/made_results.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"
#include "support/text.hpp"
#include "support/verdicts.hpp"

#include "os/places.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

using namespace kzoo;
using namespace kzoo::test;
namespace fs = std::filesystem;

namespace {

const std::string kLadder = (source_folder() / "docs" / "results" / "h200-ladder.json").string();
const std::string kSizes = (source_folder() / "docs" / "results" / "h200-sizes.json").string();
const std::string kCpu = (source_folder() / "tests" / "fixtures" / "quick-cpu.json").string();
constexpr const char* kDrawn = "document.documentElement?.dataset.complete !== undefined";

// Nothing is wider than the window.
constexpr const char* kFits =
    "document.documentElement.scrollWidth === document.documentElement.clientWidth";

std::string page_of(const std::vector<html::named_result>& all,
                    const std::optional<html::charting_library>& library) {
  std::string text;
  html::write_page(all, library, false, [&](std::string_view piece) { text += piece; });
  return text;
}

const std::string kHostile =
    "</pre></script><script>alert(1)</script>\"'&amp;\U0001F600\x1b[2J" + std::string(200, 'w');

results::document hostile_document() {
  results::document d = made_document();
  d.experiment.title = d.device.name = kHostile;
  d.experiment.text = d.experiment.text + "# " + kHostile;
  d.notes = {kHostile};
  for (results::cell& c : d.cells) {
    if (c.kernel.plugin == "fast") c.kernel.variant = kHostile;
    if (c.time) c.time->clock = timing::clock::gpu;
    if (c.verdict != verdict::pass) c.reason = kHostile;
  }
  return d;
}

// The fastest kernel of the problem that `one` is a cell of.
const results::cell& fastest_of(const results::document& d, const results::cell& one) {
  const results::cell* fastest = &one;
  for (const results::cell& c : d.cells)
    if (c.time && d.problem_of(c) == d.problem_of(one) &&
        c.time->median_ms < fastest->time->median_ms)
      fastest = &c;
  return *fastest;
}

// Problems x kernels cells, each with 66 samples.
results::document large_document(std::size_t problems, std::size_t kernels) {
  results::document d = made_document();
  d.experiment.problems.resize(problems);
  d.cells.clear();
  d.planned = problems * kernels;
  std::vector<double> samples;
  std::vector<int> rounds;
  for (int i = 0; i < 66; ++i) {
    samples.push_back(1 + 0.000123 * i);
    rounds.push_back(i / 6);
  }
  for (std::size_t p = 0; p < problems; ++p) {
    problem& of = d.experiment.problems[p];
    of = d.experiment.problems[0];
    of.m = of.n = of.k = 64 * static_cast<std::int64_t>(p + 1);
    for (std::size_t k = 0; k < kernels; ++k) {
      d.cells.push_back(made_cell(("plugin" + std::to_string(k / 4)).c_str(), p, 1));
      results::cell& c = d.cells.back();
      c.kernel.variant = std::to_string(k);
      c.time = timing::summarise_without_interval(samples, rounds);
      c.time->sm_mhz = std::vector<double>(66, 1755);
    }
  }
  return d;
}

std::optional<html::charting_library> library() { return html::find_library(charts_folders()); }

// The library and a browser, or the test is skipped.
void need_browser() {
  if (!library()) skip("the charting library is not here: ./zoo setup --charts");
  if (!browser::exists()) skip("there is no chromium-headless-shell");
}

}  // namespace

TEST_CASE("a page without the charting library has the tables, and says what is missing", "[cli]") {
  const scratch_folder folder;
  const std::string file = (folder.path() / "out.html").string();
  const auto ran = runner("report " + shell_word(kLadder) + " --html " + file,
                          "XDG_DATA_HOME=/nowhere KZOO_CHARTS=/nowhere");
  CHECK(ran.code == 0);
  CHECK_THAT(ran.err, ContainsSubstring("./zoo setup --charts"));
  const std::string page = read_text(file);
  CHECK_THAT(page, ContainsSubstring("This page has no charts"));
  CHECK_THAT(page, ContainsSubstring("<code>./zoo setup --charts</code> fetches it"));
  CHECK(page.find("<h2>Charts</h2>") == std::string::npos);
  CHECK_THAT(page, ContainsSubstring("<th scope=\"row\">pipelined:<wbr>128x256x16_<wbr>s5</th>"));
  CHECK_THAT(page, ContainsSubstring("<td class=\"right\">53903</td>"));
  CHECK_THAT(page, ContainsSubstring("default-src 'none'"));
  CHECK(page.find("http") == page.find("http-equiv"));  // no address of anything
}

TEST_CASE("a page begins with what the run comes to, and has its title once", "[cli]") {
  const results::document d = storage::read(kLadder);
  const std::string page = page_of({{"ladder", &d}}, std::nullopt);
  const std::string title = "The fp32 ladder, step by step";
  CHECK(count_of(page, ">" + title + "<") == 1);
  CHECK_THAT(page, ContainsSubstring("<h1>" + title + "</h1>"));
  const auto answer = page.find("<p class=\"answer\"><span class=\"good\">43 pass.</span>"),
             table = page.find("<table>");
  CHECK(answer < table);
  CHECK(table < page.find("<section id=\"result-1\">"));
  // One row for each plugin at first, one for each variant later.
  CHECK(count_of(page, "register_<wbr>tiles:<wbr>128x128x8_<wbr>8x8") == 2);
  CHECK(count_of(page, "register_<wbr>tiles:<wbr>32x32x8_<wbr>2x2") == 1);
}

TEST_CASE("a page of one kernel is about it", "[cli]") {
  results::document d = storage::read(kSizes);
  std::erase_if(d.cells, [](const results::cell& c) {
    return c.kernel.plugin != "pipelined" && c.kernel.plugin != "cublas";
  });
  d.planned = d.cells.size();
  results::document before = d;
  before.started = "2026-01-01T00:00:00Z";
  for (results::cell& c : before.cells) {
    std::vector<double> samples = c.time->samples_ms.unpacked();
    for (double& ms : samples) ms *= 2;
    c.time = timing::summarise(samples, c.time->rounds.unpacked());
  }
  const std::string page = page_of({{"sizes", &d, &before, "before.json", {}}}, std::nullopt);
  CHECK_THAT(page, ContainsSubstring("<h1>pipelined · "));
  CHECK_THAT(page, ContainsSubstring("What limits it</span><span> on 16384x16384x16384 f32"));
  CHECK_THAT(page, ContainsSubstring("83 % of what the roofline allows"));
  CHECK_THAT(page, ContainsSubstring("243 registers a thread, 121 KiB of shared memory a block"));
  CHECK_THAT(page, ContainsSubstring("SM clock 1969 of 1980 MHz, up to 692 of 700 W"));
  CHECK_THAT(page, ContainsSubstring("before.json, 2026-01-01T00:00:00Z"));
  CHECK(count_of(page, "<td><span class=\"good\">faster</span></td>") == 3 * 6);
}

TEST_CASE("a page says what changed since the run before, which lies beside the result", "[cli]") {
  const scratch_folder folder;
  results::document d = made_document();
  d.cells.erase(d.cells.begin() + 3, d.cells.end());
  d.planned = 3;
  const auto store = [&](const char* name, const char* started, double ms) {
    d.started = started;
    d.cells[1].time = rounds_apart({ms, ms, ms, ms, ms, ms});
    std::string text;
    storage::write(d, [&](std::string_view part) { text += part; });
    return folder.write(name, text);
  };
  store("older.json", "2026-01-01T00:00:00Z", 4);
  store("before.json", "2026-01-02T00:00:00Z", 2);
  store("later.json", "2026-01-04T00:00:00Z", 8);
  folder.write("other.json", "{}");
  const std::string now = store("now.json", "2026-01-03T00:00:00Z", 1);
  d.device.name = "Another GPU";
  store("elsewhere.json", "2026-01-02T12:00:00Z", 3);
  const std::string file = (folder.path() / "out.html").string();
  REQUIRE(runner("report " + now + " --html " + file).code == 0);
  const std::string page = read_text(file);
  CHECK_THAT(page, ContainsSubstring("<h1>fast · Made</h1>"));
  CHECK_THAT(page, ContainsSubstring("Since the run before</span><span>: before.json, 2026-01-02"));
  CHECK_THAT(page, ContainsSubstring("<td class=\"right\">-50.0%</td>"));
}

TEST_CASE("several results are for a page", "[cli]") {
  const auto ran = runner("report " + shell_word(kLadder) + " " + shell_word(kSizes));
  CHECK(ran.code == 2);
  CHECK_THAT(ran.err, ContainsSubstring("one result at a time; --html FILE"));
}

TEST_CASE("a page replaces none of the results that it shows", "[cli]") {
  const scratch_folder folder;
  const std::string copy = folder.write("r.json", read_text(kLadder));
  check_refused("report " + shell_word(kSizes) + " " + copy + " --html " + copy,
                {"it is the input file"});
  CHECK(read_text(copy) == read_text(kLadder));
}

TEST_CASE("no name leaves its place in a page", "[cli]") {
  const results::document d = hostile_document();
  const std::string page = page_of({{kHostile, &d}}, html::charting_library{"a", "b"});
  CHECK(page.find("<script>alert") == std::string::npos);
  CHECK(page.find('\x1b') == std::string::npos);
  // Those of the library, of the charts and of the page's own script.
  CHECK(count_of(page, "</script") == 3);
  CHECK(count_of(page, "<script") == 3);
  CHECK_THAT(page, ContainsSubstring("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;amp;"));
}

// ./zoo setup --charts puts them before the library, as a comment.
TEST_CASE("a page has the licences of the charting library that is pinned", "[cli]") {
  const fs::path scripts = source_folder() / "scripts";
  const std::string licences = read_text(scripts / "charts-licences.txt");
  CHECK(licences.find("*/") == std::string::npos);
  const results::document d = made_document();
  const std::string page = page_of({{"small", &d}}, html::charting_library{licences, "b"});
  const std::string pinned = read_text(scripts / "charts.txt");
  const std::string name = "vl-convert-python==";
  const auto version = pinned.find(name) + name.size();
  CHECK_THAT(page, ContainsSubstring("vl-convert-python " +
                                     pinned.substr(version, pinned.find(' ', version) - version)));
  for (const char* package :
       {"vega 6", "vega-lite 6", "vega-embed 7", "d3-scale 4", "delaunator 5"})
    CHECK_THAT(page, ContainsSubstring("\n" + std::string(package)));
}

TEST_CASE("a page with 1000 cells is smaller than 5 MB", "[cli]") {
  const results::document d = large_document(25, 40);
  const std::string page =
      page_of({{"large", &d}}, html::charting_library{std::string(900'000, 'x'), "b"});
  CHECK(page.size() < 5'000'000);
}

TEST_CASE("a browser draws every chart of a result, and complains about nothing",
          "[cli][.browser]") {
  need_browser();
  const scratch_folder folder;
  const fs::path file = folder.path() / "out.html";
  REQUIRE(runner("report " + shell_word(kSizes) + " --html " + file.string()).code == 0);
  browser page(1400);
  page.open(file, kDrawn);
  // One mark for each row that is plotted.
  const results::document d = storage::read(kSizes);
  std::set<std::string> plugin_names, kernel_names, problem_names;
  for (const results::cell& c : d.cells) {
    plugin_names.insert(c.kernel.plugin);
    kernel_names.insert(c.kernel.name());
    problem_names.insert(problem_name(d.problem_of(c)));
  }
  const std::size_t plugins = plugin_names.size(), kernels = kernel_names.size(),
                    sizes = problem_names.size();
  const auto marks = [&](const std::string& chart, const std::string& kind) {
    return page.evaluate("document.querySelectorAll('#chart-" + chart + " " + kind + "').length");
  };
  CHECK(marks("speed", ".mark-rect.role-mark path") == plugins);
  for (const char* chart : {"rate", "relative"}) {
    CHECK(marks(chart, ".mark-line.role-mark path") == plugins);
    CHECK(marks(chart, ".mark-symbol.role-mark path") == plugins * sizes);
    CHECK(marks(chart, ".mark-text.role-mark text") == plugins);  // a label at each line
    CHECK(marks(chart, ".mark-line.role-mark path[stroke=\"var(--rest)\"]") == plugins - 2);
    CHECK(marks(chart, ".mark-text.role-mark text[fill=\"var(--soft)\"]") ==
          plugins - 2);  // legible
  }
  CHECK(marks("roofline", ".mark-symbol.role-mark path") == plugins * sizes);
  CHECK(marks("roofline", ".mark-line.role-mark path") == 1);
  CHECK(marks("roofline", ".mark-text.role-mark text") == 1 + 2);  // the roof, two kernels
  CHECK(marks("accuracy", ".mark-symbol.role-mark path") == kernels * sizes);
  CHECK(marks("accuracy", ".mark-rule.role-mark line") == 1);  // what is allowed
  for (const char* chart : {"clock", "power"})
    CHECK(marks(chart, ".mark-symbol.role-mark path") == kernels * sizes);
  CHECK(page.evaluate("document.querySelectorAll('.plot').length") == 9);
  CHECK(marks("samples", ".mark-symbol.role-mark path") ==
        fastest_of(d, d.cells.back()).time->samples_ms.size());
  // A choice draws the charts that depend on it again.
  page.evaluate(
      "(() => { const s = document.getElementById('choose-variants'); s.checked = true;"
      " s.dispatchEvent(new Event('input')); })()");
  CHECK(eventually([&] { return marks("speed", ".mark-rect.role-mark path") == kernels; }));
  // A chart is saved with its colours in it.
  page.evaluate("document.querySelector('.save').click()");
  CHECK(eventually([&] {
    return page.evaluate(
               "document.getElementById('saved')?.href.startsWith('data:image/svg+xml')") == true;
  }));
  CHECK(page.evaluate("document.getElementById('saved').href.includes('var(')") == false);
  CHECK(page.evaluate(kFits) == true);
  CHECK(page.complaints() == std::vector<std::string>());
}

TEST_CASE("the tables of a page are sorted, filtered and reached with the keyboard",
          "[cli][.browser]") {
  need_browser();
  const scratch_folder folder;
  const fs::path file = folder.path() / "out.html";
  REQUIRE(runner("report " + shell_word(kLadder) + " --html " + file.string()).code == 0);
  browser page(390);
  page.open(file, kDrawn);
  CHECK(page.evaluate(kFits) == true);
  // A table fades where it goes on, so that no cut number looks whole.
  const auto fades = [&] {
    return page.evaluate(
        "(() => { const box = document.querySelector('.scroll');"
        " return box.scrollWidth > box.clientWidth && getComputedStyle(box).maskImage !== 'none'; })()");
  };
  CHECK(fades() == true);
  page.evaluate("document.querySelector('.scroll').scrollLeft = 10000");
  CHECK(eventually([&] { return fades() == false; }));
  const std::string table = "document.querySelector('#result-1 table')";
  const auto first = [&] {
    return page.evaluate(table + ".tBodies[0].rows[0].cells[0].textContent");
  };
  CHECK(first() == "naive:32x32");
  // The answer's table is laid out at once, others when they come near.
  const auto visibility = [&](const std::string& section) {
    return page.evaluate("getComputedStyle(document.querySelector('" + section +
                         " .scroll')).contentVisibility");
  };
  CHECK(visibility("section:not([id])") == "visible");
  CHECK(visibility("#result-1") == "auto");
  // A name that is longer than its column goes on in the next line.
  CHECK(page.evaluate("[...document.querySelectorAll('th[scope=row]')].every((name) =>"
                      " name.scrollWidth <= name.clientWidth && "
                      "getComputedStyle(name).whiteSpace === 'normal')") == true);
  // From the choice above the tables on, Tab reaches the titles of the columns; Enter sorts.
  page.evaluate("document.querySelector('#result-1 input').focus()");
  for (int i = 0; i < 20; ++i) {
    page.press("Tab");
    if (page.evaluate("document.activeElement.textContent") == "time") break;
  }
  CHECK(page.evaluate("document.activeElement.textContent") == "time");
  page.press("Enter");
  const results::document ladder = storage::read(kLadder);
  // By value: 276 ms after 2.54 ms.
  CHECK(first() == fastest_of(ladder, ladder.cells.back()).kernel.name());
  CHECK(page.evaluate("document.activeElement.parentElement.ariaSort") == "ascending");
  page.press("Enter");
  CHECK(first() == "naive:32x32");
  page.evaluate(
      "(() => { const i = document.querySelector('#result-1 input'); i.value = 'cublas';"
      " i.dispatchEvent(new Event('input')); })()");
  CHECK(page.evaluate("[..." + table + ".tBodies[0].rows].filter((r) => !r.hidden).length") == 1);
  CHECK(page.complaints() == std::vector<std::string>());
}

TEST_CASE("on paper there is every chart, and nothing is wider than it", "[cli][.browser]") {
  need_browser();
  const scratch_folder folder;
  const fs::path file = folder.path() / "out.html";
  REQUIRE(
      runner("report " + shell_word(kLadder) + " " + shell_word(kCpu) + " --html " + file.string())
          .code == 0);
  browser page(1400);
  page.open(file, "document.documentElement?.dataset.drawn !== undefined");
  page.evaluate("window.requestIdleCallback = () => {}");  // nothing more is drawn by itself
  page.evaluate("dispatchEvent(new Event('beforeprint'))");
  CHECK(eventually([&] {
    return page.evaluate(
               "[...document.querySelectorAll('.plot')].every((p) => p.querySelector('svg, .item'))") ==
           true;
  }));
  CHECK(page.evaluate("document.querySelectorAll('#chart-samples svg').length") == 1);
  page.show_as_print();
  // As wide as paper: what was drawn for the window has to fit at once.
  CHECK(
      page.evaluate(
          "(() => { document.body.style.width = '980px'; const right = document.body.getBoundingClientRect().right;"
          " return [...document.querySelectorAll('.plot svg, table')].filter((e) =>"
          " e.getBoundingClientRect().right > right + 1).map((e) => e.textContent.slice(0, 60)); })()") ==
      nlohmann::json::array());
  CHECK(page.evaluate("getComputedStyle(document.querySelector('thead button')).display") ==
        "contents");
  CHECK(page.complaints() == std::vector<std::string>());
}

TEST_CASE("hostile names are text in a browser, too", "[cli][.browser]") {
  need_browser();
  const scratch_folder folder;
  const results::document d = hostile_document();
  const fs::path file = folder.write("out.html", page_of({{kHostile, &d}}, library()));
  browser page(400);
  page.open(file, kDrawn);
  page.evaluate(
      "(() => { const s = document.getElementById('choose-problem'); s.selectedIndex = 0;"
      " s.dispatchEvent(new Event('input')); })()");
  const auto drawn = [&] {
    return page.evaluate("document.querySelector('#chart-speed').textContent").get<std::string>();
  };
  CHECK(eventually([&] { return drawn().find("</pre></script><script>al") != std::string::npos; }));
  CHECK(page.evaluate("document.scripts.length") == 3);
  CHECK(page.evaluate(kFits) == true);
  CHECK(page.complaints() == std::vector<std::string>());
}

TEST_CASE("a result of the simulator has charts of what is true there", "[cli][.browser]") {
  need_browser();
  const scratch_folder folder;
  const fs::path file = folder.path() / "out.html";
  REQUIRE(
      runner("report " + shell_word(kCpu) + " " + shell_word(kLadder) + " --html " + file.string())
          .code == 0);
  browser page(1400);
  page.open(file, kDrawn);
  CHECK(page.evaluate("document.querySelectorAll('#chart-agreement path').length").get<int>() >
        100);
  CHECK(page.evaluate("document.querySelectorAll('#chart-errors .mark-rect path').length") ==
        64 * 22);
  // Where all agree, a sentence says so.
  const std::size_t kernels = storage::read(kLadder).cells.size(),
                    pairs = kernels * (kernels - 1) / 2;
  CHECK(page.evaluate("document.getElementById('chart-agreement-1')") == nullptr);
  CHECK(page.evaluate("document.querySelector('#result-2').textContent.includes('all " +
                      std::to_string(pairs) + " pairs of results agree')") == true);
  CHECK(page.complaints() == std::vector<std::string>());
}

TEST_CASE("what was tuned is drawn as a map", "[cli][.browser]") {
  need_browser();
  const scratch_folder folder;
  const results::document d = made_tuning();
  browser page(1400);
  page.open(folder.write("out.html", page_of({{"made", &d}}, library())), kDrawn);
  CHECK(page.evaluate("document.querySelectorAll('#chart-space .mark-rect path').length") == 3);
  CHECK(page.evaluate("document.querySelectorAll('#choose-space option').length") == 3);
  CHECK(page.evaluate("document.querySelector('#chart-space').textContent.includes('BM 8')") ==
        true);
  CHECK(page.complaints() == std::vector<std::string>());
}

TEST_CASE("a page with 1000 cells is drawn", "[cli][.browser]") {
  need_browser();
  const scratch_folder folder;
  const results::document d = large_document(25, 40);
  const fs::path file = folder.write("out.html", page_of({{"large", &d}}, library()));
  CHECK(fs::file_size(file) < 5'000'000);
  browser page(1400);
  page.open(file, kDrawn);
  // What is in the window at first, and then the rest; more time where others use the machine.
  const int drawn = page.evaluate("Number(document.documentElement.dataset.drawn)");
  const int complete = page.evaluate("Number(document.documentElement.dataset.complete)");
  INFO("drawn after " << drawn << " ms, complete after " << complete << " ms");
  CHECK(drawn < complete);
  CHECK(drawn < 10'000);
  CHECK(complete < 20'000);
  CHECK(page.evaluate("document.querySelectorAll('#chart-samples .mark-symbol path').length") ==
        66);
  CHECK(page.complaints() == std::vector<std::string>());
}
