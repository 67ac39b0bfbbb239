#include "support/catch.hpp"
#include "unit/experiment_file.hpp"

using namespace kzoo::experiment;
using namespace kzoo::results;
using kzoo::to_string;
using namespace kzoo::experiment::testing;

TEST_CASE("published figures become milliseconds for a size", "[experiment]") {
  const auto e = load_text(R"(
[problem]
sizes = [64, 128]
[published]
source = "S"
[published.ms."Z 1"]
"naive@64" = 3
"naive:8x8@1x2x3" = 0.5
[published.gflops.A]
"nobody:here@1000" = 2
)");
  CHECK(e.published.source == "S");
  REQUIRE(e.published.columns.size() == 2);
  CHECK(e.published.columns[0].label == "Z 1");
  CHECK(e.published.columns[0].ms ==
        std::map<std::string, double>{{"naive@64x64x64", 3.0}, {"naive:8x8@1x2x3", 0.5}});
  CHECK(e.published.columns[1].label == "A");
  CHECK(e.published.columns[1].ms.at("nobody:here@1000x1000x1000") == 1000.0);
}

TEST_CASE("columns stay in the order of the file", "[experiment]") {
  const auto e = load_text("[published.ms]\nb = {x = 1}\na = {x = 1}\nc = {x = 1}");
  REQUIRE(e.published.columns.size() == 3);
  CHECK(e.published.columns[0].label == "b");
  CHECK(e.published.columns[2].label == "c");
}

TEST_CASE("a figure without a size is for the only size of the file", "[experiment]") {
  const std::string text =
      "[problem]\nsizes = ['1x2x4']\ndtype = ['f32', 'f16']\n[published.gflops.A]\nnaive = 1e-6\n";
  const std::map<std::string, double> expected = {{"naive@1x2x4", 16.0}};
  CHECK(load_text(text).published.columns.at(0).ms == expected);
  overrides over;
  over.sizes = {"8", "9"};
  CHECK(load_text(text, over).published.columns.at(0).ms == expected);
}

TEST_CASE("errors in published figures are refused at their position", "[experiment]") {
  const auto at = [](const std::string& text) { return first_line(fault(text)); };
  CHECK(at("[problem]\nsizes = [1, 2]\n[published.gflops.A]\nnaive = 1") ==
        "t.toml:4:1: error: \"naive\" needs a size, as in \"naive@1x1x1\": the experiment has 2");
  CHECK(at("[published.ms.A]\nnaive = 0") ==
        "t.toml:2:9: error: published.ms.\"A\".\"naive\": expected a number above 0 and up to "
        "1000000000000, found 0");
  CHECK(at("[published.ms.A]\n\"naive@2\" = 1\n\"naive@2x2x2\" = 2") ==
        "t.toml:3:1: error: \"naive@2x2x2\" has a figure already");
  CHECK(at("[published.ms.A]\nx = 1\n[published.gflops.A]\nx = 1") ==
        "t.toml:3:19: error: the column \"A\" already exists, under ms");
  CHECK(at("[published.ms.A]\n\"naive@2x\" = 1") ==
        "t.toml:2:1: error: after the @ in \"naive@2x\": expected a size such as \"512\" or "
        "\"512x256x128\", each dimension from 1 to 1048576");
  CHECK(at("[published.ms.A]\n\"smem:*\" = 1")
            .starts_with("t.toml:2:1: error: expected a plugin such as \"smem\""));
  CHECK(at("[published.ms]\nA = 1") ==
        "t.toml:2:5: error: published.ms.\"A\": expected a table of figures, found 1");
  CHECK(at("[published.ms.\"\"]\nx = 1") == "t.toml:1:15: error: a published column needs a label");
  CHECK(at("[published]\nsauce = 'x'")
            .starts_with("t.toml:2:1: error: unknown key 'sauce' in published; did you mean "
                         "'source'?"));
}
