// Shards of an experiment on several machines: how their results are joined.
#include "compare/compare.hpp"
#include "experiment/load.hpp"
#include "support/catch.hpp"
#include "support/made_results.hpp"
#include "support/stored.hpp"
#include "support/text.hpp"

#include <string>
#include <vector>

using namespace kzoo;
using test::ContainsSubstring;

namespace {

constexpr const char* kText = "plugins = ['base', 'fast']\nproblem.sizes = [64, 128, 256, 512]\n";

problem cube(std::int64_t n) { return {n, n, n}; }

// Results of those problems, of two kernels each.
compare::shard_results shard(const char* name, const std::vector<std::string>& problems) {
  results::document d = test::made_document();
  results::overrides over;
  over.problems = problems;
  d.experiment = experiment::load_text("made.toml", kText, over);
  d.cells.clear();
  for (std::size_t i = 0; i < d.experiment.problems.size(); ++i)
    for (const char* plugin : {"base", "fast"})
      d.cells.push_back(test::made_cell(plugin, i, plugin[0] == 'f' ? 0.5 : 1));
  d.planned = d.cells.size();
  d.host = name;
  d.notes = {"a note of all", std::string("a note of ") + name};
  return {name, std::move(d)};
}

std::string refusal(std::vector<compare::shard_results> shards, bool by_device = false) {
  return test::refusal_of([&] { compare::merge(std::move(shards), by_device); });
}

}  // namespace

TEST_CASE("merged results are those of one run of all problems", "[merge]") {
  auto whole = shard("node1, node2, node3", {});
  const auto merged = compare::merge(
      {shard("node1", {"1"}), shard("node2", {"0", "3"}), shard("node3", {"2"})}, false);
  CHECK(merged.missing.empty());
  REQUIRE(merged.by_device.size() == 1);
  results::document d = merged.by_device.front();
  CHECK(d.notes == std::vector<std::string>{"a note of all", "a note of node1", "a note of node2",
                                            "a note of node3"});
  d.notes = whole.results.notes;
  CHECK(test::document_text(d) == test::document_text(whole.results));
}

TEST_CASE("cells that a shard lacks are named", "[merge]") {
  auto begun = shard("node2", {"0", "3"});
  begun.results.cells.pop_back();
  const auto merged = compare::merge({shard("node1", {"1"}), std::move(begun)}, false);
  CHECK(merged.missing ==
        std::vector<std::string>{"256x256x256 f32: all 2 cells", "512x512x512 f32: fast:8x8_4x4"});
  const results::document& d = merged.by_device.front();
  CHECK(d.planned == 8);
  CHECK(d.cells.size() == 5);
  CHECK_THAT(d.notes.back(), ContainsSubstring("512x512x512 f32: fast:8x8_4x4"));
}

TEST_CASE("what was measured on different devices has no common table", "[merge]") {
  auto other = shard("node2", {"0", "3"});
  for (const char* what : {"name", "driver", "runtime"}) {
    other = shard("node2", {"0", "3"});
    if (what == std::string("name"))
      other.results.device.name = "Another GPU";
    else
      other.results.device.facts[what] = "535.1";
    CHECK_THAT(refusal({shard("node1", {"1", "2"}), other}),
               ContainsSubstring("node2: error: was measured on ") &&
                   ContainsSubstring("--by-device makes one for each"));
  }
  const auto merged = compare::merge({shard("node1", {"1"}), other, shard("node3", {"2"})}, true);
  CHECK(merged.missing.empty());
  REQUIRE(merged.by_device.size() == 2);
  CHECK(merged.by_device[0].experiment.problems == std::vector<problem>{cube(128), cube(256)});
  CHECK(merged.by_device[1].experiment.problems == std::vector<problem>{cube(64), cube(512)});
  for (const results::document& d : merged.by_device) {
    CHECK(d.complete());
    CHECK(d.cells.back().problem == 1);
    // It can be repeated, and stored.
    const auto& e = d.experiment;
    CHECK(experiment::load_text(e.file, e.text, e.overridden).problems == e.problems);
    CHECK(test::document_text(test::read_document(test::document_text(d))) ==
          test::document_text(d));
  }
  // Which device would have had the missing ones is not known.
  CHECK(compare::merge({shard("node1", {"1"}), other}, true).missing ==
        std::vector<std::string>{"256x256x256 f32: all cells"});
}

TEST_CASE("shards of different runs are not merged", "[merge]") {
  auto other = shard("node2", {"0"});
  CHECK_THAT(refusal({shard("node1", {"0", "1"}), other}),
             ContainsSubstring("node2: error: has 64x64x64 f32, and so has node1"));
  other.results.version = "9.9";
  CHECK_THAT(refusal({shard("node1", {"1"}), other}, true),
             ContainsSubstring("node2: error: cannot be merged with node1") &&
                 ContainsSubstring("kernel-zoo: 0.1.0 then, 9.9 now"));
  other = shard("node2", {"0"});
  other.results.plugins[0].sha256 = "11ee";
  CHECK_THAT(refusal({shard("node1", {"1"}), other}), ContainsSubstring("plugin base changed"));
  other = shard("node2", {"0"});
  other.results.experiment.text += "# edited\n";
  CHECK_THAT(refusal({shard("node1", {"1"}), other}), ContainsSubstring("made.toml changed"));
}
