// The experiments under configs/, and how they are found.

#include "support/catch.hpp"
#include "support/paths.hpp"
#include "unit/experiment_file.hpp"

using namespace kzoo::experiment;
using namespace kzoo::results;
using kzoo::to_string;
using namespace kzoo::experiment::testing;

namespace {
const std::filesystem::path kConfigs = kzoo::test::source_folder() / "configs";
}

TEST_CASE("every shipped experiment is valid", "[experiment]") {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kConfigs / "experiments")) {
    INFO(entry.path());
    CHECK_NOTHROW(load(entry.path()));
    ++count;
  }
  CHECK(count >= 3);
}

TEST_CASE("a100 is the experiment of the published A100 figures", "[experiment]") {
  const auto e = load(find_file("experiments/a100.toml", {kConfigs}));
  CHECK(e.intended_device == "A100");
  CHECK(problem_names(e) == std::vector<std::string>{"1024x1024x1024 f32"});
  REQUIRE(e.published.columns.size() == 2);
  CHECK(e.published.columns[0].label == "A100 80G");
  CHECK(e.published.columns[0].ms.at("naive:32x32@1024x1024x1024") == 16.5);
  CHECK(e.published.columns[1].label == "RTX 3090");
}

TEST_CASE("blocks is the grid of block sizes", "[experiment]") {
  const auto e = load(find_file("experiments/blocks.toml", {kConfigs}));
  CHECK(e.problems.size() == 10);
  REQUIRE(e.published.columns.size() == 1);
  CHECK(e.published.columns[0].ms.size() == 54);
  CHECK_FALSE(e.published.columns[0].ms.contains("coalesced:32x32@16x16x16"));
  CHECK(e.published.columns[0].ms.at("smem:32x32@4096x4096x4096") ==
        2.0 * 4096 * 4096 * 4096 / 3825e6);
}

TEST_CASE("a file is looked for here, then under the configuration folders", "[experiment]") {
  const folder first, second;
  first.write("experiments/one.toml", "");
  second.write("experiments/one.toml", "");
  const auto two = second.write("experiments/two.toml", "");
  const std::vector<std::filesystem::path> path = {first.path(), second.path()};
  const auto one = first.path() / "experiments/one.toml";
  CHECK(find_file("experiments/one.toml", path) == one);
  CHECK(find_file("experiments/one", path) == one);
  CHECK(find_file("one", path) == one);
  CHECK(find_file("two.toml", path) == two);
  CHECK(find_file(two, {}) == two);
  CHECK(find_file("/dev/null", path) == "/dev/null");
}

TEST_CASE("the error for a missing file has every path tried and the nearest name",
          "[experiment]") {
  const folder here;
  here.write("experiments/quick.toml", "");
  const std::string at = here.path().string();
  CHECK_THROWS_WITH(find_file("experiments/qiuck.toml", {here.path()}),
                    "experiments/qiuck.toml: error: there is no such experiment file; looked at\n"
                    "  experiments/qiuck.toml\n"
                    "  " +
                        at +
                        "/experiments/qiuck.toml\n"
                        "  " +
                        at +
                        "/experiments/experiments/qiuck.toml\n"
                        "did you mean 'experiments/quick.toml'?");
  CHECK_THROWS_WITH(find_file(at, {here.path()}), at +
                                                      ": error: there is no such experiment file; "
                                                      "looked at\n  " +
                                                      at + " (a directory)\n  " + at +
                                                      ".toml\n"
                                                      "available experiments: quick");
  CHECK_THROWS_AS(find_file("", {}), kzoo::input::invalid);
  // Two folders that have the same names.
  folder other;
  other.write("experiments/quick.toml", "");
  CHECK(known_experiments({here.path(), other.path()}) == std::vector<std::string>{"quick"});
}
