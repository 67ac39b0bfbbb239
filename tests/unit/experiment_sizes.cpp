// Every form of size, the order of expansion, and --sizes.

#include "support/catch.hpp"
#include "unit/experiment_file.hpp"

using namespace kzoo::experiment;
using namespace kzoo::results;
using kzoo::to_string;
using namespace kzoo::experiment::testing;

using names = std::vector<std::string>;

namespace {

names shapes_of(const std::string& text, const overrides& over = {}) {
  names result;
  for (const kzoo::problem& p : load_text(text, over).problems)
    result.push_back(kzoo::shape_name(p));
  return result;
}

std::string problem_fault(const std::string& line) {
  return first_line(fault("[problem]\n" + line + "\n"));
}

}  // namespace

TEST_CASE("sizes come in five forms", "[experiment]") {
  CHECK(shapes_of("[problem]\nsizes = [256]") == names{"256x256x256"});
  CHECK(shapes_of("[problem]\nsizes = 64") == names{"64x64x64"});
  CHECK(shapes_of("[problem]\nsizes = ['33x65x17', '8', [1, 2, 3], [4, 5, 6]]") ==
        names{"33x65x17", "8x8x8", "1x2x3", "4x5x6"});
  CHECK(shapes_of("[problem]\nsizes = [1, 1048576]") == names{"1x1x1", "1048576x1048576x1048576"});
}

TEST_CASE("ranges include both ends", "[experiment]") {
  CHECK(shapes_of("[problem]\nsizes = {from = 64, to = 192, step = 64}") ==
        names{"64x64x64", "128x128x128", "192x192x192"});
  CHECK(shapes_of("[problem]\nsizes = [{from = 8, to = 40, times = 2}]") ==
        names{"8x8x8", "16x16x16", "32x32x32"});
  CHECK(shapes_of("[problem]\nsizes = [{from = 5, to = 5, step = 1}, 7]") ==
        names{"5x5x5", "7x7x7"});
}

TEST_CASE("m, n and k combine", "[experiment]") {
  CHECK(shapes_of("[problem]\nm = [1, {from = 2, to = 4, times = 2}]\nn = 3\nk = [5, 6]") ==
        names{"1x3x5", "1x3x6", "2x3x5", "2x3x6", "4x3x5", "4x3x6"});
  CHECK(shapes_of("[problem]\nk = 7") == names{"256x256x7"});
}

TEST_CASE("problems expand in file order, then dtype, size, alpha, beta, padding", "[experiment]") {
  const auto e = load_text(R"(
[[problem]]
dtype = ["f32", "i32"]
sizes = [2, 1]
alpha = [1, 2]
beta = [0, 1]
[[problem]]
sizes = [3, 3, 2]
padding = [0, 4]
)");
  const names expected = {
      "2x2x2 f32", "2x2x2 f32 beta=1",    "2x2x2 f32 alpha=2",  "2x2x2 f32 alpha=2 beta=1",
      "1x1x1 f32", "1x1x1 f32 beta=1",    "1x1x1 f32 alpha=2",  "1x1x1 f32 alpha=2 beta=1",
      "2x2x2 i32", "2x2x2 i32 beta=1",    "2x2x2 i32 alpha=2",  "2x2x2 i32 alpha=2 beta=1",
      "1x1x1 i32", "1x1x1 i32 beta=1",    "1x1x1 i32 alpha=2",  "1x1x1 i32 alpha=2 beta=1",
      "3x3x3 f32", "3x3x3 f32 padding=4", "2x2x2 f32 padding=4"};
  CHECK(problem_names(e) == expected);
  CHECK(to_string(e.problems_where).ends_with("t.toml:2:1"));
}

TEST_CASE("fill follows the element type", "[experiment]") {
  const auto e = load_text("[problem]\ndtype = ['f32', 'i32']");
  CHECK(e.problems.at(0).data == kzoo::fill::uniform);
  CHECK(e.problems.at(1).data == kzoo::fill::integers);
  CHECK(load_text("[problem]\nfill = 'integers'\nseed = 9").problems.at(0).data ==
        kzoo::fill::integers);
  CHECK(problem_fault("dtype = 'i32'\nfill = 'uniform'") ==
        "t.toml:3:8: error: problem.fill: \"uniform\" fills with fractions, and dtype i32 "
        "needs integers");
  CHECK(load_text("[problem]\nfill = 'unequal'").problems.at(0).data == kzoo::fill::unequal);
  CHECK(problem_fault("dtype = ['f32', 'f16']\nfill = 'unequal'") ==
        "t.toml:3:8: error: problem.fill: \"unequal\" needs dtype f32");
}

TEST_CASE("dimensions out of range are refused at their position", "[experiment]") {
  const std::string range = "expected an integer from 1 to 1048576, found ";
  CHECK(problem_fault("sizes = [8, 0]") == "t.toml:2:13: error: problem.sizes: " + range + "0");
  CHECK(problem_fault("sizes = [-1]") == "t.toml:2:10: error: problem.sizes: " + range + "-1");
  CHECK(problem_fault("n = 1000000000") == "t.toml:2:5: error: problem.n: " + range + "1000000000");
  CHECK(problem_fault("m = 1.0") == "t.toml:2:5: error: problem.m: " + range + "1.0");
  CHECK(problem_fault("k = '8'") == "t.toml:2:5: error: problem.k: " + range + "the string \"8\"");
  CHECK(problem_fault("sizes = [[1, 0, 3]]") ==
        "t.toml:2:14: error: problem.sizes: " + range + "0");
  CHECK(problem_fault("sizes = [[1, 2]]") ==
        "t.toml:2:10: error: problem.sizes: expected [m, n, k], found a list of 2");
  CHECK(problem_fault("sizes = []") ==
        "t.toml:2:9: error: problem.sizes: the list is empty; leave the key out for its default");
  for (const char* bad : {"", "x", "1x2", "1x2x", "x2x3", "1x2x3x4", "0x1x1", "1x1x-1", " 8", "8 ",
                          "+8", "1048577", "1e3", "99999999999999999999"}) {
    INFO(bad);
    CHECK(problem_fault("sizes = ['" + std::string(bad) + "']") ==
          "t.toml:2:10: error: problem.sizes: expected a size such as \"512\" or \"512x256x128\", "
          "each dimension from 1 to 1048576, found the string \"" +
              std::string(bad) + "\"");
  }
}

TEST_CASE("malformed ranges are refused", "[experiment]") {
  const std::string needs =
      "a range needs 'from', 'to', and one of 'step' (added) or 'times' (multiplied)";
  const std::string at = "t.toml:2:9: error: problem.sizes: ";
  CHECK(problem_fault("sizes = {from = 1, to = 2}") == at + needs);
  CHECK(problem_fault("sizes = {from = 1, step = 2}") == at + needs);
  CHECK(problem_fault("sizes = {to = 1, step = 2}") == at + needs);
  CHECK(problem_fault("sizes = {from = 1, to = 2, step = 1, times = 2}") == at + needs);
  CHECK(problem_fault("sizes = {from = 9, to = 2, step = 1}") ==
        at + "the range is empty: from = 9 is above to = 2");
  CHECK(problem_fault("sizes = {from = 1, to = 10001, step = 1}") ==
        at + "the range from 1 to 10001 has more than 10000 sizes");
  CHECK(problem_fault("sizes = {from = 1, to = 2, step = 0}") ==
        "t.toml:2:35: error: problem.sizes.step: expected an integer from 1 to 1048576, found 0");
  CHECK(problem_fault("sizes = {from = 1, to = 2, times = 1}") ==
        "t.toml:2:36: error: problem.sizes.times: expected an integer from 2 to 1048576, found 1");
  CHECK(problem_fault("sizes = {from = 1, to = 2, setp = 1, step = 1}") ==
        "t.toml:2:28: error: unknown key 'setp' in problem.sizes; did you mean 'step'? (known "
        "here: from, to, step, times)");
}

TEST_CASE("too many problems are refused before they are expanded", "[experiment]") {
  CHECK(problem_fault("m = {from = 1, to = 1000, step = 1}\nk = {from = 1, to = 11, step = 1}") ==
        "t.toml:2:5: error: problem.m: m, n and k combine to 11000 sizes; at most 10000 are "
        "allowed");
  CHECK(problem_fault("m = {from = 1, to = 1000, step = 1}\npadding = [0,1,2,3,4,5,6,7,8,9,10]") ==
        "t.toml:1:1: error: the file expands to 11000 problems here; at most 10000 are allowed");
}

TEST_CASE("sizes exclude m, n and k", "[experiment]") {
  CHECK(problem_fault("sizes = [1]\nm = 2") ==
        "t.toml:3:5: error: problem.m: give either 'sizes' or 'm', 'n' and 'k'");
}

TEST_CASE("sizes replaces the shapes of every problem and nothing else", "[experiment]") {
  const std::string text =
      "[[problem]]\nsizes = [1, 2, 3]\nalpha = 0.7\n[[problem]]\nm = 9\ndtype = 'i32'\n";
  overrides over;
  over.sizes = {"64", "1x2x3"};
  const auto e = load_text(text, over);
  CHECK(problem_names(e) ==
        names{"64x64x64 f32 alpha=0.7", "1x2x3 f32 alpha=0.7", "64x64x64 i32", "1x2x3 i32"});
  CHECK(to_string(e.problems_where) == "--sizes");
  over.sizes = {"64", "12x"};
  CHECK(fault(text, over) ==
        "--sizes: error: expected a size such as \"512\" or \"512x256x128\", each dimension from 1 "
        "to 1048576, found \"12x\"");
}
