// Runs of parts of an experiment, as examples/slurm/shards.sh starts them, and their merged
// results.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

using namespace kzoo::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

// Six problems, of which the script runs 0-1 and 2-3, 4 and 5.
constexpr const char* kExperiment =
    "plugins = ['serial']\nproblem.sizes = [8, 16, 24, 32, 40, 48]\ntiming.enabled = false\n";

run_result run_shard(const scratch_folder& folder, int shard) {
  const fs::path script = source_folder() / "examples" / "slurm" / "shards.sh";
  return run_program("/bin/bash", shell_word(script.string()) + " e.toml --device cpu",
                     fmt::format("{} SLURM_ARRAY_TASK_ID={} SHARDS=d RUNNER={}", in(folder), shard,
                                 shell_word(runner_program())));
}

// The journals that `shards` tasks would have written, from that of a run of all problems.
void cut_into_shards(const scratch_folder& folder, const fs::path& journal, std::size_t shards) {
  const auto lines = lines_of(journal);
  for (std::size_t shard = 0; shard < shards; ++shard) {
    json head = json::parse(lines.front()), problems = json::array();
    std::string cells;
    for (std::size_t i = 1; i < lines.size(); ++i) {
      const auto at_number = lines[i].rfind("\"problem\":") + 10;
      const std::size_t number = std::stoul(lines[i].substr(at_number));
      if (number % shards != shard) continue;
      if (problems.empty() || problems.back() != std::to_string(number))
        problems.push_back(std::to_string(number));
      cells += lines[i].substr(0, at_number) + std::to_string(problems.size() - 1) + "}\n";
    }
    head["experiment"]["overrides"]["problems"] = problems;
    head["planned_cells"] = 2 * problems.size();
    folder.write(fmt::format("d/shard-{}.jsonl", shard), head.dump() + '\n' + cells);
  }
}

double seconds_of(const std::function<void()>& act) {
  const auto start = std::chrono::steady_clock::now();
  act();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE("the jobs of the batch script have the results of one run", "[cli]") {
  const scratch_folder folder;
  folder.write("e.toml", kExperiment);
  for (int shard = 0; shard < 4; ++shard) CHECK(run_shard(folder, shard).code == 0);
  const auto merged = runner("merge d", in(folder));
  INFO(merged.err);
  CHECK(merged.code == 0);
  CHECK_THAT(merged.out, ContainsSubstring("ok: 12 pass") && ContainsSubstring("stored in d/"));
  CHECK(runner("report d/merged.json --md", in(folder)).code == 0);
  // A job that starts again continues its journal.
  const std::string journal = read_text(folder.path() / "d/shard-1.jsonl");
  CHECK(run_shard(folder, 1).code == 0);
  CHECK(read_text(folder.path() / "d/shard-1.jsonl") == journal);
  folder.write("d/shard-01.jsonl", journal);
  const auto twice = runner("merge d", in(folder));
  CHECK(twice.code == 2);
  CHECK_THAT(twice.err, ContainsSubstring("d: error: has two journals of shard 1"));
}

TEST_CASE("cells that no shard has are named", "[cli]") {
  const scratch_folder folder;
  folder.write("e.toml", kExperiment);
  const auto refused = runner("merge nowhere", in(folder));
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, ContainsSubstring("nowhere: error: No such file or directory"));
  folder.write("d/shard-3.jsonl", "");
  const auto nothing = runner("merge d", in(folder));
  CHECK(nothing.code == 1);
  CHECK_THAT(nothing.err, ContainsSubstring("error: no shard has stored any results"));

  REQUIRE(run_shard(folder, 1).code == 0);
  const auto merged = runner("merge d", in(folder));
  CHECK(merged.code == 1);
  CHECK_THAT(merged.err,
             ContainsSubstring("shard 3 has stored nothing\nmissing: 8x8x8 f32: all 2 cells\n"));
  CHECK_THAT(merged.out,
             ContainsSubstring("8 of 12 cells not run") && ContainsSubstring("stored in "));
}

TEST_CASE("shards of different devices are refused, or get a table each", "[cli]") {
  const scratch_folder folder;
  folder.write("e.toml", kExperiment);
  for (const int shard : {0, 1}) REQUIRE(run_shard(folder, shard).code == 0);
  const fs::path d = folder.path() / "d", other_journal = d / "shard-1.jsonl";
  CHECK(runner("merge d", in(folder)).code == 1);  // of shards 2 and 3
  fs::remove(d / "merged.json");
  const std::string name = json::parse(lines_of(other_journal).front())["device"]["name"];
  folder.write("d/shard-1.jsonl", replaced(read_text(other_journal), name, "Another machine"));
  const auto refused = runner("merge d", in(folder));
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err,
             ContainsSubstring("shard-1.jsonl: error: was measured on Another machine") &&
                 ContainsSubstring("--by-device makes one for each"));
  CHECK_FALSE(fs::exists(d / "merged.json"));
  const auto each = runner("merge d --by-device", in(folder));
  CHECK_THAT(each.err, ContainsSubstring("missing: 40x40x40 f32: all cells\n"));
  CHECK_THAT(each.out, ContainsSubstring("ok: 4 pass"));
  const json other = json::parse(read_text(d / "merged-Another-machine.json"));
  CHECK(other.at("cells").size() == 4);
  CHECK(other.at("cells")[0]["problem"]["m"] == 24);
  CHECK_FALSE(fs::exists(d / "merged.json"));
}

TEST_CASE("1000 problems in 50 shards are merged in seconds", "[cli]") {
  const scratch_folder folder;
  std::string sizes;
  for (int m = 1; m <= 1000; ++m) sizes += fmt::format("'{}x4x4',", m);
  folder.write("many.toml",
               "plugins = ['serial']\nproblem.sizes = [" + sizes + "]\ntiming.enabled = false\n");
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr double kMostSeconds = 50;
#else
  constexpr double kMostSeconds = 5;
#endif
  const auto whole =
      runner("many.toml --device cpu --quiet --journal whole.jsonl --json whole.json", in(folder));
  REQUIRE(whole.code == 0);
  cut_into_shards(folder, folder.path() / "whole.jsonl", 50);

  const fs::path shard = folder.path() / "d/shard-7.jsonl";
  const std::string before = read_text(shard);
  const auto then = fs::last_write_time(shard);
  const double seconds = seconds_of([&] {
    const auto merged = runner("merge d", in(folder));
    INFO(merged.err);
    CHECK(merged.code == 0);
    CHECK_THAT(merged.out, ContainsSubstring("ok: 2000 pass"));
  });
  INFO("merging took " << seconds << " s");
  CHECK(seconds < kMostSeconds);
  CHECK(fs::last_write_time(shard) == then);
  CHECK(read_text(shard) == before);
  CHECK(json::parse(read_text(folder.path() / "d/merged.json")).at("cells") ==
        json::parse(read_text(folder.path() / "whole.json")).at("cells"));
}
