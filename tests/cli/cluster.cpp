// Submitting and merging, without a cluster: what Slurm would say comes from scripts of this test.
// With a real Slurm: slurm.cpp.
#include "support/catch.hpp"
#include "support/program.hpp"
#include "support/text.hpp"
#include "support/verdicts.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

using namespace kzoo::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

// A folder with an experiment, e.toml, and programs of its own in bin/.
class login_node {
 public:
  login_node() {
    folder_.write("e.toml",
                  "plugins = ['serial']\nproblem.sizes = [8, 16, 24, 32]\n"
                  "timing.enabled = false\n");
  }
  void has(const std::string& program, const std::string& script) const {
    fs::permissions(folder_.write("bin/" + program, "#!/bin/sh\n" + script), fs::perms::owner_all);
  }
  run_result run(const std::string& words) const {
    return runner(words, in(folder_) + " PATH=$PWD/bin:/usr/bin-is-not-here");
  }
  fs::path path(const std::string& name) const { return folder_.path() / name; }
  const scratch_folder& folder() const { return folder_; }

 private:
  scratch_folder folder_;
};

constexpr const char* kSubmit = "submit e.toml --device cpu --shards 2 --journal-dir d ";
// Counts the jobs, and notes how it was called.
constexpr const char* kTakes = "echo \"$@\" >>calls; echo 4$(/usr/bin/wc -l <calls)\n";

void check_refusal(const login_node& at, const std::string& says, const std::string& advice) {
  at.has("sbatch", fmt::format("echo 'sbatch: error: {}' >&2; exit 1\n", says));
  const auto refused = at.run(kSubmit);
  INFO(refused.err);
  CHECK(refused.code == 2);
  CHECK(refused.out.empty());
  CHECK_THAT(refused.err, ContainsSubstring("sbatch: error: Slurm did not take the job:\n"
                                            "sbatch: error: " +
                                            says));
  CHECK_THAT(refused.err, ContainsSubstring(advice));
  CHECK_FALSE(fs::exists(at.path("d")));  // so that the same command can be given again
}

// The journals that `shards` tasks would have written, from that of a run of all problems.
void cut_into_shards(const login_node& at, const fs::path& journal, std::size_t shards) {
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
    at.folder().write(fmt::format("d/shard-{}.jsonl", shard), head.dump() + '\n' + cells);
  }
}

double seconds_of(const std::function<void()>& act) {
  const auto start = std::chrono::steady_clock::now();
  act();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE("an experiment is submitted as an array job and one that merges", "[cli]") {
  const login_node at;
  at.has("sbatch", kTakes);
  const auto dry = at.run(std::string(kSubmit) + "--dry-run -- --partition=gpu");
  CHECK(dry.code == 0);
  CHECK_THAT(dry.out, ContainsSubstring("d/shards.sh <==\n#!/bin/bash\n# e.toml in 2 shards."));
  CHECK_THAT(dry.out, ContainsSubstring("#SBATCH --partition=gpu\n"));
  CHECK_THAT(dry.out, ContainsSubstring("problems=( # of shard 0, 1, …\n  0,3\n  1-2\n)\n"));
  CHECK_FALSE(fs::exists(at.path("d")));

  at.folder().write("modules.sh", "module load cuda/13");
  const auto ran =
      at.run(std::string(kSubmit) + "--setup modules.sh --sizes 8,9,10 -- --partition=gpu");
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  CHECK_THAT(ran.out,
             ContainsSubstring("e.toml: 3 problems in 2 shards, job 41; job 42 merges them\n"));
  const std::string d = at.path("d").string();
  CHECK(read_text(at.path("calls")) ==
        fmt::format("--parsable --job-name=kzoo-e --array=0-1 --requeue --open-mode=append "
                    "--output={0}/shard-%a.log --exclusive --partition=gpu {0}/shards.sh\n"
                    "--parsable --job-name=kzoo-e-merge --open-mode=append --output={0}/merge.log "
                    "--partition=gpu --dependency=afterany:41 --kill-on-invalid-dep=yes "
                    "{0}/merge.sh\n",
                    d));
  const std::string script = read_text(at.path("d/shards.sh"));
  CHECK_THAT(script, ContainsSubstring("\nmodule load cuda/13\n"));
  CHECK_THAT(script, ContainsSubstring("--device cpu --sizes=8,9,10 \\\n"));
  CHECK(read_text(at.path("d/e.toml")) == read_text(at.path("e.toml")));
  // A second one does not write into the first one's folder.
  const auto again = at.run(kSubmit);
  CHECK(again.code == 2);
  CHECK_THAT(again.err, ContainsSubstring(d + ": error: is not empty; name another folder"));
  CHECK(read_text(at.path("d/shards.sh")) == script);

  const auto by_default = at.run("submit e.toml --device cpu");
  CHECK(by_default.code == 0);
  CHECK_THAT(by_default.out, ContainsSubstring("4 problems in 4 shards"));
  CHECK_THAT(by_default.out, ContainsSubstring("_e_slurm\n"));
}

TEST_CASE("what cannot be the same on each node is refused", "[cli]") {
  const login_node at;
  const auto refused = [&](const std::string& command, const std::string& words) {
    const auto ran = at.run(command);
    INFO(ran.err);
    CHECK(ran.code == 2);
    CHECK_THAT(ran.err, ContainsSubstring(words));
  };
  refused("submit e.toml", "--device: error: name it, cuda or cpu");
  refused("submit e.toml --device cpu --problems 1", "--problems: error: each shard gets its own");
  refused("submit e.toml --device cpu -- --array=0-3",
          "--array=0-3: error: is an option of sbatch that");
  refused("submit e.toml --device cpu -- -a0-3", "-a0-3: error: is an option of sbatch that");
  refused("submit e.toml --device cpu --setup none.sh", "none.sh");
  refused("submit gone --device cpu", "gone");
  at.folder().write("mine.toml", "plugins = ['./mine.cu']\n");
  refused("submit mine.toml --device cpu",
          "mine.toml:1:12: error: \"./mine.cu\" is looked up beside");
  refused("status nowhere", "nowhere: error: there is no such folder here");
  at.has("x", "");
  refused("merge bin", "is no folder of `runner submit`");
}

TEST_CASE("what Slurm refuses is told in its own words, and with what to do", "[cli]") {
  const login_node at;
  const auto missing = at.run(kSubmit);
  CHECK(missing.code == 2);
  CHECK_THAT(missing.err,
             ContainsSubstring("sbatch: error: there is no such program here; submit from "
                               "a machine of the cluster"));
  CHECK_FALSE(fs::exists(at.path("d")));

  check_refusal(at, "invalid partition specified: none", "`sinfo` lists the partitions");
  check_refusal(
      at, "Batch job submission failed: Invalid account or account/partition combination specified",
      "sacctmgr show associations");
  check_refusal(at, "Batch job submission failed: Invalid job array specification", "MaxArraySize");
  check_refusal(
      at,
      "Batch job submission failed: Job violates accounting/QOS policy (job submit limit, "
      "users size and/or time limits)",
      "a quota: fewer shards");
  check_refusal(at, "Batch job submission failed: Requested node configuration is not available",
                "no node has that much");
  check_refusal(at,
                "Batch job submission failed: Unable to contact slurm controller (connect failure)",
                "`scontrol ping`");
  check_refusal(at, "Invalid generic resource (gres) specification", "sinfo -o '%N %G'");
  check_refusal(at, "Something new", "`man sbatch`");

  // The shards are taken, the job that merges is not.
  at.has("sbatch",
         "case $* in *dependency*) echo 'Job violates a limit' >&2; exit 1;; esac; echo 41\n");
  const auto half = at.run(kSubmit);
  CHECK(half.code == 1);
  CHECK_THAT(half.err,
             ContainsSubstring("Job violates a limit") &&
                 ContainsSubstring("warning: the shards are submitted, and the job that merges "
                                   "them is not; when they have ended: runner merge "));
  CHECK_THAT(half.out, ContainsSubstring("2 shards, job 41\n"));
}

TEST_CASE("the status of shards is told from journals where Slurm cannot be asked", "[cli]") {
  const login_node at;
  at.has("sbatch", kTakes);
  REQUIRE(at.run(kSubmit).code == 0);
  const auto nothing = at.run("merge d");
  CHECK(nothing.code == 1);
  CHECK_THAT(nothing.err,
             ContainsSubstring("error: no shard has stored any results; runner status "));

  // Shard 0 has the largest problem: here it has ended in good order.
  REQUIRE(runner("d/e.toml --device cpu --problems 3 --journal d/shard-0.jsonl", in(at.folder()))
              .code == 0);
  const auto without = at.run("status d");
  CHECK(without.code == 0);
  CHECK_THAT(without.err, ContainsSubstring("note: there is no squeue here"));
  CHECK_THAT(without.out,
             ContainsSubstring("0  done       2/2") && ContainsSubstring("1  unknown"));

  at.has("squeue", "echo '1|FAILED|768|node7|NonZeroExitCode|'; echo '0|FAILED|256|node6||'\n");
  const auto gone = at.run("status d");
  CHECK(gone.code == 1);
  CHECK_THAT(gone.out, ContainsSubstring("0  done      2/2  node6"));
  CHECK_THAT(gone.out,
             ContainsSubstring("1  failed         node7  FAILED, exit code 3:0, NonZeroExitCode; "
                               "there is no shard-1.log: was the folder there on the node?"));
  at.has("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1\n");
  at.folder().write("d/shard-1.log", "shard 1\ne.toml: error: a plugin is missing\n\n");
  CHECK_THAT(
      at.run("status d").out,
      ContainsSubstring(
          "failed         Slurm does not know it any more; e.toml: error: a plugin is missing"));

  const auto merged = at.run("merge d");
  CHECK(merged.code == 1);
  CHECK_THAT(merged.err,
             ContainsSubstring("shard 1 has stored nothing\nmissing: 8x8x8 f32: all 2 cells\n"));
  CHECK_THAT(merged.err,
             ContainsSubstring("\n  sbatch --array=1 ") && ContainsSubstring("d/shards.sh\n"));
  CHECK_THAT(merged.out, ContainsSubstring("6 of 8 cells not run"));
  CHECK_THAT(merged.out, ContainsSubstring("stored in "));
}

TEST_CASE("shards of different devices are refused, or get a table each", "[cli]") {
  const login_node at;
  at.has("sbatch", kTakes);
  REQUIRE(at.run(kSubmit).code == 0);
  for (const auto& [shard, problems] : {std::pair{0, "0,3"}, {1, "1-2"}}) {
    REQUIRE(runner(fmt::format("d/e.toml --device cpu --problems {} --journal d/shard-{}.jsonl",
                               problems, shard),
                   in(at.folder()))
                .code == 0);
  }
  CHECK(at.run("merge d").code == 0);
  fs::remove(at.path("d/merged.json"));
  const std::string name =
      json::parse(lines_of(at.path("d/shard-1.jsonl")).front())["device"]["name"];
  at.folder().write("d/shard-1.jsonl",
                    replaced(read_text(at.path("d/shard-1.jsonl")), name, "Another machine"));
  const auto refused = at.run("merge d");
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err,
             ContainsSubstring("shard-1.jsonl: error: was measured on Another machine") &&
                 ContainsSubstring("--by-device makes one for each"));
  CHECK_FALSE(fs::exists(at.path("d/merged.json")));
  const auto each = at.run("merge d --by-device");
  INFO(each.err);
  CHECK(each.code == 0);
  CHECK_THAT(each.out, ContainsSubstring("ok: 4 pass"));
  const json other = json::parse(read_text(at.path("d/merged-Another-machine.json")));
  CHECK(other.at("cells").size() == 4);
  CHECK(other.at("cells")[0]["problem"]["m"] == 16);
  CHECK_FALSE(fs::exists(at.path("d/merged.json")));
}

TEST_CASE("1000 problems in 50 shards are planned and merged in seconds", "[cli]") {
  const login_node at;
  std::string sizes;
  for (int m = 1; m <= 1000; ++m) sizes += fmt::format("'{}x4x4',", m);
  at.folder().write("many.toml", "plugins = ['serial']\nproblem.sizes = [" + sizes +
                                     "]\ntiming.enabled = false\n");
  at.has("sbatch", kTakes);
  constexpr double kMostSeconds = 5;
  CHECK(seconds_of([&] {
          const auto planned = at.run("submit many.toml --device cpu --shards 50 --journal-dir d");
          INFO(planned.err);
          REQUIRE(planned.code == 0);
        }) < kMostSeconds);
  const auto whole = runner(
      "d/many.toml --device cpu --quiet --journal whole.jsonl --json whole.json", in(at.folder()));
  REQUIRE(whole.code == 0);
  cut_into_shards(at, at.path("whole.jsonl"), 50);

  const auto written = [&] { return fs::last_write_time(at.path("d/shard-7.jsonl")); };
  const std::string before = read_text(at.path("d/shard-7.jsonl"));
  const auto then = written();
  const double seconds = seconds_of([&] {
    const auto merged = at.run("merge d");
    INFO(merged.err);
    CHECK(merged.code == 0);
    CHECK_THAT(merged.out, ContainsSubstring("ok: 2000 pass"));
  });
  INFO("merging took " << seconds << " s");
  CHECK(seconds < kMostSeconds);
  CHECK(written() == then);
  CHECK(read_text(at.path("d/shard-7.jsonl")) == before);
  CHECK(json::parse(read_text(at.path("d/merged.json"))).at("cells") ==
        json::parse(read_text(at.path("whole.json"))).at("cells"));
}
