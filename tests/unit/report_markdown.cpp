// Reports as Markdown, and those that documents hold.
#include "input/diagnostics.hpp"
#include "report/page.hpp"
#include "report/report.hpp"
#include "storage/results_json.hpp"
#include "support/catch.hpp"
#include "support/doc_reports.hpp"
#include "support/made_results.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

using namespace kzoo;
using test::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

// The documents of the project that a reader meets.
std::vector<fs::path> documents() {
  const fs::path root = test::source_folder();
  std::vector<fs::path> found{root / "README.md"};
  for (const char* folder : {"docs", "plugins"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() == ".md") found.push_back(entry.path());
    }
  }
  return found;
}

}  // namespace

TEST_CASE("text is no markup", "[report]") {
  CHECK(report::markdown("8x8_4x4") == "8x8_4x4");
  CHECK(report::markdown("_a_ a|b *c* <d>\n[e]") == R"(\_a\_ a\|b \*c\* \<d> \[e])");
  CHECK(report::markdown("bad", report::style::bad) == "**bad**");
  CHECK(report::markdown("", report::style::bad).empty());
}

TEST_CASE("a table in Markdown aligns, escapes and leaves empty columns out", "[report]") {
  report::table t;
  t.add_column("name", report::table::align::left);
  t.add_column("never");
  t.add_column("of two\nlines");
  t.add_row({{"a|b"}, {}, {"12345"}});
  t.add_row({{"c"}, {}, {"√", report::style::bad}});
  CHECK(t.markdown() ==
        "| name | of two lines |\n"
        "| ---- | -----------: |\n"
        "| a\\|b |        12345 |\n"
        "| c    |        **√** |\n");
}

TEST_CASE("a failure that a kernel has on several problems is told once, and counted", "[report]") {
  results::document d = test::made_document();
  const std::string why = "SIGILL, a trap";
  for (const std::size_t problem : {0u, 1u}) {
    for (const char* plugin : {"bad", "worse"}) {
      results::cell c = test::made_cell(plugin, problem, 1);
      c.verdict = verdict::crashed;
      c.reason = why;
      d.cells.push_back(c);
    }
  }
  std::ranges::stable_sort(d.cells, {}, &results::cell::problem);
  const auto count = [](const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  const std::string text = report::full_report(d, report::medium::text);
  CHECK(count(text, "  crashed bad:8x8_4x4, worse:8x8_4x4: " + why) == 1);
  CHECK(count(text, "  crashed in 4 cells: bad:8x8_4x4, worse:8x8_4x4: " + why) == 1);
  CHECK(count(text, why) == 2);
  CHECK(count(text, "worse:8x8_4x4  crashed") == 2);  // in the tables
  d.cells.back().reason = "SIGSEGV";
  const std::string other = report::full_report(d, report::medium::text);
  CHECK(count(other, "  crashed worse:8x8_4x4: SIGSEGV") == 1);
  CHECK(count(other, "  crashed in 3 cells: ") == 1);
}

TEST_CASE("a remark on a kernel that passed is told once, with a pivot too", "[report]") {
  results::document d = test::made_document();
  d.cells = {test::made_cell("base", 0, 1), test::made_cell("base", 1, 1)};
  for (results::cell& c : d.cells) {  // nothing else stands below a problem where there is a pivot
    c.end_to_end.reset();
    c.conditions = {};
    c.findings = {results::remark(results::kSlowChecks, "its checks took 99 s")};
  }
  const auto said = [&] {
    return test::count_of(report::full_report(d, report::medium::text),
                          "  slow base:8x8_4x4: its checks took 99 s\n");
  };
  CHECK(said() == 1);
  d.experiment.pivot_table.emplace();
  CHECK(said() == 1);
}

TEST_CASE("a report in Markdown has what the text has, block by block", "[report]") {
  const results::document d = test::made_document();
  const std::string md = report::full_report(d, report::medium::markdown);
  for (const char* words :
       {"**Made**\n\n- made.toml on cuda:0 (Some GPU), tier full, kernel-zoo 0.1.0\n", "2026-01-02",
        "- unavailable gone: ", "runtime 13.0", "3 rounds or more", "L2 flushed", "vs base",
        "2.00x", "1748 MHz", "- **throttled** fast:8x8_4x4: 2 samples discarded, the others kept",
        "| end to end", "| 4.50 ms |", "33.0 KiB", "38% spills", "Old GPU", "\n\n| kernel",
        "\n\n- **wrong** fast:8x8_4x4: element", "GFLOP/s by kernel and shape",
        "**FAILED**: 3 pass"}) {
    CHECK_THAT(md, ContainsSubstring(words));
  }
  const std::string text = report::full_report(d, report::medium::text);
  CHECK_THAT(text, ContainsSubstring("Agreement, worst over all problems"));
  CHECK(text.find("**") == std::string::npos);
}

TEST_CASE("kernels that disagree are listed, unless one of them is wrong by its verdict",
          "[report]") {
  results::document d = test::made_document();
  const auto says = [&] {
    return ContainsSubstring("- **disagree** base:8x8_4x4 and fast")
        .match(report::full_report(d, report::medium::markdown));
  };
  CHECK_FALSE(says());
  d.cells[4].verdict = verdict::pass;
  CHECK(says());
}

TEST_CASE("a pivot of speedups has them, and GFLOP/s where there is no baseline", "[report]") {
  results::document d = test::made_document();
  d.experiment.pivot_table = {results::pivot_axis::kernel, results::pivot_axis::shape,
                              results::pivot_value::speedup};
  const std::string compared = report::full_report(d, report::medium::markdown);
  CHECK_THAT(compared, ContainsSubstring("speedup over base by kernel and shape"));
  CHECK_THAT(compared, ContainsSubstring("2.00x"));
  CHECK(compared.find("published, Old GPU") == std::string::npos);
  d.experiment.baseline = selector{"elsewhere", {}};
  for (results::cell& c : d.cells) {
    if (c.time) c.time->clock = timing::clock::simulator;
  }
  const std::string alone =
      report::full_report(d, {report::medium::markdown, report::kNoLimit, true});
  CHECK_THAT(alone, ContainsSubstring("GFLOP/s by kernel and shape"));
  CHECK_THAT(alone, !ContainsSubstring("| \\* |"));
}

TEST_CASE("a pivot of errors has two tables for each other size, and errors of wrong results",
          "[report]") {
  results::document d = test::made_document();
  d.experiment.pivot_table = {results::pivot_axis::kernel, results::pivot_axis::k,
                              results::pivot_value::error};
  d.experiment.problems[1] = sized(128, 64, 512);  // the K of the first
  results::cell& wrong = d.cells.front();
  wrong.verdict = verdict::wrong;
  wrong.accuracy->max_rho = 11400;
  const std::string md = report::full_report(d, report::medium::markdown);
  CHECK_THAT(md, ContainsSubstring("largest error / (u S) by kernel and k") &&
                     ContainsSubstring("relative Frobenius error by kernel and k") &&
                     ContainsSubstring(", 512x512xK**: largest") &&
                     ContainsSubstring(", 128x64xK**: largest") && ContainsSubstring("1.0e-07") &&
                     ContainsSubstring("**11400**"));
}

TEST_CASE("a part of a document is what its results say", "[report]") {
  const test::scratch_folder folder;
  const results::document d = test::made_document();
  folder.write("r.json", storage::to_json(d).dump());
  const std::string right = "before\n<!-- report: r.json -->\n" +
                            report::full_report(d, report::medium::markdown) +
                            "<!-- /report -->\nafter\n";
  CHECK(test::with_reports(right, folder.path()) == right);
  CHECK(test::with_reports("a\n<!-- report: r.json -->\nold\n<!-- /report -->\nb\n"
                           "<!-- report: r.json --><!-- /report -->",
                           folder.path())
            .find("old") == std::string::npos);
  const std::string errors = test::with_reports(
      "a\n<!-- errors by n: r.json -->\nold\n<!-- /report -->\nb\n", folder.path());
  CHECK_THAT(errors, ContainsSubstring("largest error / (u S) by kernel and n") &&
                         !ContainsSubstring("old") && !ContainsSubstring("Some GPU"));
  CHECK_THAT(errors, !ContainsSubstring("Frobenius"));
  const auto part = [&](const std::string& words) {
    return test::with_reports("<!-- " + words + " -->\n<!-- /report -->\n", folder.path());
  };
  const std::string speedups = part("speedups by kernel: r.json of fast,base:8x*");
  CHECK_THAT(speedups, ContainsSubstring("2026-01-02: Some GPU, driver ") &&
                           ContainsSubstring("speedup over base by kernel and shape") &&
                           ContainsSubstring("| fast:8x8_4x4 ") &&
                           ContainsSubstring("| base:8x8_4x4 ") && !ContainsSubstring("| bad:"));
  CHECK_THAT(part("times by problem: r.json of fast"),
             ContainsSubstring("time by problem and kernel") && ContainsSubstring(" ms |"));
  CHECK_THAT(part("speeds by kernel: r.json"), ContainsSubstring("GFLOP/s by kernel and shape"));
  CHECK_THAT(part("tables: r.json"),
             ContainsSubstring("| kernel") && ContainsSubstring("verdict") &&
                 !ContainsSubstring("roofline") && !ContainsSubstring("- **"));
  const std::string none = "no reports, `<!-- report: r.json -->` is how they look";
  CHECK(test::with_reports(none, folder.path()) == none);
  CHECK_THROWS_WITH(test::with_reports("<!-- report: r.json -->\n", folder.path()),
                    ContainsSubstring("<!-- /report -->"));
  CHECK_THROWS_WITH(test::with_reports("<!-- report: gone.json --><!-- /report -->", folder.path()),
                    ContainsSubstring("gone.json"));
}

TEST_CASE("the reports in the documents are what their results say", "[report]") {
  for (const fs::path& file : documents()) {
    const std::string text = input::read_file(file);
    const std::string right = test::with_reports(text, file.parent_path());
    if (std::getenv("KZOO_UPDATE_DOCS") != nullptr && right != text) {
      std::ofstream(file) << right;
      continue;
    }
    INFO(file << " holds a report that is not what its results say;"
              << " KZOO_UPDATE_DOCS=1 ./zoo test -R markdown writes it anew");
    CHECK(right == text);
  }
}

TEST_CASE("stored results name files as the tree has them", "[report]") {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(test::source_folder() / "docs" / "results")) {
    const results::document d = storage::read(entry.path());
    INFO(entry.path());
    CHECK(d.host.empty());
    CHECK(d.experiment.file.is_relative());
    for (const results::plugin_record& p : d.plugins) CHECK(p.file.is_relative());
    ++files;
  }
  CHECK(files > 0);
}

TEST_CASE("a divided problem has a column for its devices, and a slow one is named", "[report]") {
  results::document d = test::made_document();
  d.devices = {"cuda:0", "cuda:1"};
  d.cells[1].device = "cuda:1";
  d.cells[0].baseline_ms = 1;
  d.cells[1].baseline_ms = 1.25;
  const std::string text = report::full_report(d, report::medium::text);
  CHECK_THAT(text, ContainsSubstring(" device "));
  CHECK_THAT(text, ContainsSubstring("slow cuda:1: base takes 25.0 % longer there than on the "
                                     "fastest device (1 problem)"));
  d.cells[1].baseline_ms = 1.001;
  CHECK_THAT(report::full_report(d, report::medium::text), !ContainsSubstring("slow cuda:1"));
}
