// Shards of an experiment on several machines: how its problems are split, and their results
// joined.
#include "cluster/submission.hpp"
#include "experiment/load.hpp"
#include "support/catch.hpp"
#include "support/made_results.hpp"
#include "support/stored.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace kzoo;
using test::ContainsSubstring;
using numbers = std::vector<std::size_t>;

namespace {

constexpr const char* kText = "plugins = ['base', 'fast']\nproblem.sizes = [64, 128, 256, 512]\n";

problem cube(std::int64_t n) { return {n, n, n}; }

// Results of those problems, of two kernels each.
cluster::shard_results shard(const char* name, const std::vector<std::string>& problems) {
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

std::string refusal(std::vector<cluster::shard_results> shards, bool by_device = false) {
  return test::refusal_of([&] { cluster::merge(std::move(shards), by_device); });
}

}  // namespace

TEST_CASE("problems are split evenly by an estimate, the longest first", "[cluster]") {
  // One that takes as long as all others together.
  const std::vector<problem> one_long{cube(512), cube(4096), cube(1024), cube(2048), cube(512)};
  CHECK(cluster::split(one_long, 2) == std::vector<numbers>{{1}, {0, 2, 3, 4}});
  CHECK(cluster::split(one_long, 3) == std::vector<numbers>{{1}, {3}, {0, 2, 4}});
  CHECK(cluster::split(one_long, 9).size() == 5);  // no shard without a problem

  std::vector<problem> many;
  for (int i = 0; i < 1000; ++i) many.push_back(cube(64 + 37 * i % 2048));
  std::vector<double> work;
  std::vector<int> seen(many.size());
  for (const numbers& each : cluster::split(many, 50)) {
    CHECK(std::ranges::is_sorted(each));
    work.push_back(0);
    for (const std::size_t i : each) {
      ++seen[i];
      work.back() += cluster::estimated_work(many[i]);
    }
  }
  CHECK(work.size() == 50);
  CHECK(std::ranges::all_of(seen, [](int times) { return times == 1; }));
  CHECK(std::ranges::max(work) < 1.02 * std::ranges::min(work));

  // Small problems take time as well.
  const std::vector<problem> small(100, cube(8));
  for (const numbers& each : cluster::split(small, 10)) CHECK(each.size() == 10);
}

TEST_CASE("numbers of problems are written as --problems takes them", "[cluster]") {
  CHECK(cluster::numbers_text(numbers{0, 1, 2, 3, 7}) == "0-3,7");
  CHECK(cluster::numbers_text(numbers{5}) == "5");
  CHECK(cluster::numbers_text(numbers{1, 3, 4}) == "1,3-4");
}

TEST_CASE("a batch script holds names that a shell or Slurm would take apart", "[cluster]") {
  cluster::batch b;
  b.folder = "/shared/50% of it's";
  b.runner = "/opt/kernel zoo/runner";
  b.experiment = "my sizes.toml";
  b.options = {"--device", "cuda", "--plugins", "smem:*"};
  b.problems = {"0-3", "4"};
  b.slurm_options = {"--partition=gpu", "--comment=two words"};
  b.setup = "module load cuda";
  const std::string script = cluster::shards_script(b);
  CHECK_THAT(script, ContainsSubstring("#SBATCH --array=0-1\n"));
  CHECK_THAT(script, ContainsSubstring("#SBATCH --exclusive\n"));
  CHECK_THAT(script, ContainsSubstring("#SBATCH --requeue\n"));
  // The user's stand last, and count.
  CHECK_THAT(script, ContainsSubstring("#SBATCH --exclusive\n#SBATCH --partition=gpu "
                                       "'--comment=two words'\n"));
  CHECK_THAT(script, ContainsSubstring("--output='/shared/50%% of it'\\''s/shard-%a.log'\n"));
  CHECK_THAT(script, ContainsSubstring("folder='/shared/50% of it'\\''s'\n"));
  CHECK_THAT(script, ContainsSubstring("runner=('/opt/kernel zoo/runner')\n"));
  CHECK_THAT(script, ContainsSubstring("\nmodule load cuda\n\nset -eo pipefail\n"));
  CHECK(cluster::shards_options(b) ==
        std::vector<std::string>{"--job-name=kzoo-my-sizes", "--array=0-1", "--requeue",
                                 "--open-mode=append", "--output=/shared/50%% of it's/shard-%a.log",
                                 "--exclusive", "--partition=gpu", "--comment=two words"});
  CHECK_THAT(script,
             ContainsSubstring("\"$folder\"/'my sizes.toml' --device cuda --plugins 'smem:*' "));
  const std::string merging = cluster::merge_script(b);
  CHECK_THAT(merging, ContainsSubstring("merge \"$folder\"\n"));
  CHECK_THAT(merging, ContainsSubstring("#SBATCH --partition=gpu '--comment=two words'\n"));
  CHECK_THAT(merging, !ContainsSubstring("--exclusive"));
  b.shares_nodes = b.by_device = true;
  CHECK_THAT(cluster::shards_script(b), !ContainsSubstring("--exclusive"));
  CHECK_THAT(cluster::merge_script(b), ContainsSubstring("--by-device\n"));
}

TEST_CASE("merged results are those of one run of all problems", "[cluster]") {
  auto whole = shard("node1, node2, node3", {});
  const auto merged = cluster::merge(
      {shard("node1", {"1"}), shard("node2", {"0", "3"}), shard("node3", {"2"})}, false);
  CHECK(merged.missing.empty());
  REQUIRE(merged.by_device.size() == 1);
  results::document d = merged.by_device.front();
  CHECK(d.notes == std::vector<std::string>{"a note of all", "a note of node1", "a note of node2",
                                            "a note of node3"});
  d.notes = whole.results.notes;
  CHECK(test::document_text(d) == test::document_text(whole.results));
}

TEST_CASE("cells that a shard lacks are named", "[cluster]") {
  auto begun = shard("node2", {"0", "3"});
  begun.results.cells.pop_back();
  const auto merged = cluster::merge({shard("node1", {"1"}), std::move(begun)}, false);
  CHECK(merged.missing ==
        std::vector<std::string>{"256x256x256 f32: all 2 cells", "512x512x512 f32: fast:8x8_4x4"});
  const results::document& d = merged.by_device.front();
  CHECK(d.planned == 8);
  CHECK(d.cells.size() == 5);
  CHECK_THAT(d.notes.back(), ContainsSubstring("512x512x512 f32: fast:8x8_4x4"));
}

TEST_CASE("what was measured on different devices has no common table", "[cluster]") {
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
  const auto merged = cluster::merge({shard("node1", {"1"}), other, shard("node3", {"2"})}, true);
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
  CHECK(cluster::merge({shard("node1", {"1"}), other}, true).missing ==
        std::vector<std::string>{"256x256x256 f32: all cells"});
}

TEST_CASE("shards of different runs are not merged", "[cluster]") {
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
