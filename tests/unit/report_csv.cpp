#include "support/catch.hpp"
#include "support/made_results.hpp"
#include "support/stored.hpp"

#include <sstream>

using kzoo::test::ContainsSubstring;

TEST_CASE("no text in CSV is a formula to a spreadsheet", "[report]") {
  auto d = kzoo::test::made_document();
  d.cells[4].reason = "=HYPERLINK(1)";
  d.experiment.problems[0].alpha = -2;
  const std::string text = kzoo::test::csv_text(d);
  CHECK_THAT(text, ContainsSubstring(",'=HYPERLINK(1),") && ContainsSubstring(",-2,"));
}

TEST_CASE("CSV has a line for each cell, and quotes what needs it", "[report]") {
  auto d = kzoo::test::made_document();
  d.cells[4].reason = "expected \"1\", got 2";
  d.experiment.published.columns[0].label = "GPU, old";
  std::istringstream in(kzoo::test::csv_text(d));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  REQUIRE(lines.size() == 7);
  CHECK_THAT(lines[0], ContainsSubstring("plugin,variant,device,m,n,k,dtype,"));
  CHECK_THAT(lines[0], ContainsSubstring("\"published_ms GPU, old\",published_ms New GPU"));
  CHECK_THAT(lines[2],
             ContainsSubstring("fast,8x8_4x4,cuda:0,512,512,512,f32,nn,1,0,none,1,0,,1,1,"));
  CHECK_THAT(lines[2], ContainsSubstring(",0.5,0.495,"));
  CHECK_THAT(lines[0],
             ContainsSubstring(",clock,cache,stopped_by,sm_mhz,throttled,gflops,share_of_peak,"));
  CHECK_THAT(lines[2], ContainsSubstring(",gpu,cold,slower,1747.5,2,"));
  CHECK_THAT(lines[0],
             ContainsSubstring(",speedup_over_baseline,speedup_low,speedup_high,end_to_end_ms,"));
  CHECK_THAT(lines[2], ContainsSubstring(",2,,,4.5,64,8,33792,0.375,"));
  CHECK_THAT(lines[5], ContainsSubstring("\"expected \"\"1\"\", got 2\""));
  // Every line has every column: the quoted commas are one in the head and one in line 5.
  const auto commas = [&](std::size_t i) {
    return std::count(lines[i].begin(), lines[i].end(), ',');
  };
  for (const std::size_t i : {1u, 2u, 3u, 4u, 6u}) CHECK(commas(i) == commas(0) - 1);
  CHECK(commas(5) == commas(0));
}

TEST_CASE("lines of CSV are sorted as tables are, problem by problem", "[report]") {
  const auto d = kzoo::test::made_document();
  std::string text;
  kzoo::report::write_csv(d, kzoo::report::sort_key::time,
                          [&](std::string_view piece) { text += piece; });
  const auto place = [&](const char* part) {
    const auto at = text.find(part);
    REQUIRE(at != std::string::npos);
    return at;
  };
  CHECK(place("\nfast,") < place("\nbase,"));
  CHECK(place(",512,512,512,") < place(",1024,"));
}
