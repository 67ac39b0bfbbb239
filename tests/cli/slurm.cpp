// Submitting to a real Slurm, which a test starts for itself where it is installed.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/slurm_cluster.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <signal.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

using namespace kzoo::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

// One for all tests, since it takes seconds to start.
slurm_cluster& cluster() {
  static slurm_cluster only;
  return only;
}

// In each shard a cell that is finished at once, one that takes so many seconds, and others.
std::string hanging(int seconds) {
  return fmt::format(
      "plugins = ['serial:ikj', 'launches:never_returns', 'naive:8x8']\n[problem]\n"
      "sizes = [8, 16, 24, 32, 40, 48]\n[timing]\nenabled = false\n[verify]\ntimeout_seconds = {}\n",
      seconds);
}

// Three shards of two problems in the folder d, as often as not on three nodes.
std::string submit(const std::string& more = "") {
  return fmt::format("submit e.toml --device cpu --plugin-dir {} --shards 3 --journal-dir d {}",
                     shell_word(hostile_folder()), more);
}

fs::path journal(const scratch_folder& folder, int shard) {
  return folder.path() / fmt::format("d/shard-{}.jsonl", shard);
}

std::string log_of(const scratch_folder& folder, int shard) {
  return read_text(folder.path() / fmt::format("d/shard-{}.log", shard));
}

std::size_t cells_in(const fs::path& file) {
  std::size_t cells = 0;
  if (!fs::exists(file)) return 0;
  for (const std::string& line : lines_of(file)) cells += line.starts_with("{\"cell\"") ? 1 : 0;
  return cells;
}

// Until each shard has stored a cell, and works on another one.
void wait_for_first_cells(const scratch_folder& folder) {
  for (int shard = 0; shard < 3; ++shard)
    REQUIRE(eventually([&] { return cells_in(journal(folder, shard)) == 1; }));
}

// Of the process that writes a journal, as the journal says.
int writer_of(const fs::path& file) {
  return json::parse(lines_of(file).front()).at("process").get<int>();
}

// A process that does nothing as long as the object lives, as if it could not write.
class stopped {
 public:
  explicit stopped(int pid) : pid_(pid) { kill(pid_, SIGSTOP); }
  ~stopped() { kill(pid_, SIGCONT); }
  stopped(const stopped&) = delete;
  stopped& operator=(const stopped&) = delete;

 private:
  int pid_;
};

bool is_over() { return slurm_cluster::ask("squeue --noheader").empty(); }

json merged(const scratch_folder& folder) {
  return json::parse(read_text(folder.path() / "d/merged.json"));
}

// The cells without their times.
json judged(const json& results) {
  json cells = results.at("cells");
  for (json& c : cells) {
    for (const char* key : {"time", "hot_time", "judge_seconds", "time_seconds", "gflops",
                            "speedup", "speedup_interval", "conditions"})
      c.erase(key);
  }
  return cells;
}

}  // namespace

TEST_CASE("an experiment in four jobs has the results of one run", "[cli][.slurm]") {
  cluster();
  const scratch_folder folder;
  const std::string plugins = " --device cpu --plugins naive,serial,smem ";
  const auto one = runner("quick --no-journal --json one.json" + plugins, in(folder));
  const auto four = runner("submit quick --shards 4 --wait --journal-dir d" + plugins, in(folder));
  INFO(four.out << four.err);
  REQUIRE(four.code == 0);
  CHECK_THAT(four.err, ContainsSubstring("4 shards: 4 done; 40 cells"));
  CHECK_THAT(four.out, ContainsSubstring("ok: 40 pass"));
  const json whole = json::parse(read_text(folder.path() / "one.json"));
  CHECK(judged(merged(folder)) == judged(whole));
  CHECK(merged(folder).at("planned_cells") == 40);
  CHECK(merged(folder).at("plugins") == whole.at("plugins"));
  REQUIRE(eventually(is_over));
  CHECK_THAT(read_text(folder.path() / "d/merge.log"), ContainsSubstring("ok: 40 pass"));
  const auto status = runner("status d", in(folder));
  CHECK(status.code == 0);
  CHECK_THAT(status.out, ContainsSubstring("3  done"));
  CHECK(runner("report d/merged.json --md", in(folder)).code == 0);
}

TEST_CASE("jobs that are cancelled leave what is finished, and can be submitted again",
          "[cli][.slurm][hostile]") {
  cluster();
  const scratch_folder folder;
  folder.write("e.toml", hanging(4));
  background_run waiting({"submit", "e.toml", "--device", "cpu", "--plugin-dir", hostile_folder(),
                          "--shards", "3", "--journal-dir", "d", "--wait"},
                         folder.path());
  wait_for_first_cells(folder);
  waiting.send(SIGINT);
  const auto ended = waiting.wait();
  CHECK(ended.code == 130);
  CHECK_THAT(ended.out, ContainsSubstring("no longer waiting; the jobs go on:\n  runner status "));
  CHECK_FALSE(is_over());

  slurm_cluster::ask("scancel --me");
  REQUIRE(eventually(is_over));
  for (int shard = 0; shard < 3; ++shard)
    CHECK_THAT(log_of(folder, shard), ContainsSubstring("INTERRUPTED: 1 pass"));
  // Slurm's queue is empty before it says how each job has ended.
  CHECK(eventually([&] {
    const auto status = runner("status d", in(folder));
    const auto says = [&](const char* words) {
      return status.out.find(words) != std::string::npos;
    };
    return status.code == 1 && says("failed    1/6") && says("CANCELLED");
  }));
  const auto partly = runner("merge d", in(folder));
  CHECK(partly.code == 1);
  CHECK_THAT(partly.err, ContainsSubstring("missing: 8x8x8 f32: "));
  CHECK_THAT(partly.err, ContainsSubstring("sbatch --array=0,1,2 "));
  CHECK(merged(folder).at("cells").size() == 3);

  slurm_cluster::ask("sbatch --array=0,1,2 " + (folder.path() / "d/shards.sh").string());
  REQUIRE(eventually(
      [&] { return runner("status d", in(folder)).out.find("running") != std::string::npos; }));
  REQUIRE(eventually(is_over));
  CHECK(runner("merge d", in(folder)).code == 1);  // some cells hang
  CHECK(merged(folder).at("cells").size() == 18);
}

TEST_CASE("a full disk and a folder that is not there are told, and nothing finished is lost",
          "[cli][.slurm]") {
  cluster();
  const scratch_folder folder;
  std::string sizes = "[4";
  for (int n = 5; n < 120; ++n) sizes += ", " + std::to_string(n);
  sizes += "]";
  folder.write("e.toml", "plugins = ['serial', 'naive']\nproblem.sizes = " + sizes +
                             "\n"
                             "timing.enabled = false\n");
  // KiB: room for the matrices, which are in memory, and for some of the cells.
  folder.write("small_disk.sh", "ulimit -f 80\n");
  const auto full = runner(submit("--wait --setup small_disk.sh"), in(folder));
  INFO(full.out << full.err);
  CHECK(full.code == 1);
  CHECK_THAT(full.err, ContainsSubstring("3 shards: 3 failed"));
  CHECK_THAT(full.err, ContainsSubstring("missing: "));
  const auto status = runner("status d", in(folder));
  CHECK_THAT(status.out, ContainsSubstring("FAILED, exit code 5:0, NonZeroExitCode; error: ") &&
                             ContainsSubstring("shard-0.jsonl cannot be written: "));
  const std::string before = read_text(journal(folder, 0));
  const std::size_t whole = before.rfind('\n') + 1;
  CHECK(cells_in(journal(folder, 0)) > 0);
  REQUIRE(eventually(is_over));

  const std::string script = (folder.path() / "d/shards.sh").string();
  slurm_cluster::ask("sed -i '/^ulimit/d' " + script);
  slurm_cluster::ask("sbatch --hold " + script);
  fs::rename(folder.path() / "d", folder.path() / "elsewhere");
  slurm_cluster::ask("scontrol release $(squeue --noheader --format=%F)");
  REQUIRE(eventually(is_over));
  CHECK_THAT(runner("status d", in(folder)).err,
             ContainsSubstring("d: error: there is no such folder here"));
  fs::rename(folder.path() / "elsewhere", folder.path() / "d");
  CHECK(read_text(journal(folder, 0)) == before);

  slurm_cluster::ask("sbatch " + script);
  REQUIRE(eventually(is_over));
  CHECK(read_text(journal(folder, 0)).starts_with(before.substr(0, whole)));
  const auto at_last = runner("merge d", in(folder));
  CHECK(at_last.code == 0);
  CHECK_THAT(at_last.out, ContainsSubstring("ok: 45 pass"));
}

TEST_CASE("a folder that no node sees leaves no file, and the status says so", "[cli][.slurm]") {
  cluster();
  const scratch_folder folder;
  folder.write("e.toml",
               "plugins = ['serial']\nproblem.sizes = [4, 5, 6]\ntiming.enabled = false\n");
  REQUIRE(runner(submit("-- --hold"), in(folder)).code == 0);
  fs::rename(folder.path() / "d", folder.path() / "elsewhere");
  slurm_cluster::ask(
      "scancel --name=kzoo-e-merge; scontrol release $(squeue --noheader --format=%F)");
  REQUIRE(eventually(is_over));
  fs::rename(folder.path() / "elsewhere", folder.path() / "d");
  const auto status = runner("status d", in(folder));
  CHECK(status.code == 1);
  CHECK_THAT(status.out,
             ContainsSubstring("FAILED, exit code 0:53") &&
                 ContainsSubstring("there is no shard-1.log: was the folder there on the node?"));

  for (const auto& [options, said] :
       {std::pair{"--partition=none", "invalid partition specified: none"},
        {"--gpus=1", "Invalid generic resource (gres) specification"}}) {
    const auto refused = runner(
        fmt::format("submit e.toml --device cpu --journal-dir r -- {}", options), in(folder));
    CHECK(refused.code == 2);
    CHECK_THAT(refused.err, ContainsSubstring(said));
    CHECK_FALSE(fs::exists(folder.path() / "r"));
  }
}

// The last task's own id is that of the whole array.
TEST_CASE("a shard that is killed starts again, and no other one", "[cli][.slurm][hostile]") {
  cluster();
  const scratch_folder folder;
  folder.write("e.toml", hanging(6));
  REQUIRE(runner(submit(), in(folder)).code == 0);
  wait_for_first_cells(folder);
  kill(writer_of(journal(folder, 2)), SIGKILL);
  const auto starts_again = [&](int shard) {
    return log_of(folder, shard).find(", start 2\n") != std::string::npos;
  };
  CHECK(eventually([&] { return starts_again(2); }));
  for (const int other : {0, 1}) CHECK_FALSE(starts_again(other));
  slurm_cluster::ask("scancel --me");
  REQUIRE(eventually(is_over));
}

TEST_CASE("shards that are killed, pre-empted and lose their node go on elsewhere",
          "[cli][.slurm][hostile]") {  // the last test, since it leaves a node fewer
  cluster();
  const scratch_folder folder;
  folder.write("e.toml", hanging(9));
  REQUIRE(runner(submit(), in(folder)).code == 0);
  wait_for_first_cells(folder);
  const std::string then = read_text(journal(folder, 0));
  kill(writer_of(journal(folder, 0)), SIGKILL);
  const int old_copy = writer_of(journal(folder, 1));
  cluster().lose_node_of(old_copy);
  std::optional<stopped> still_there(old_copy);
  const std::string job =
      slurm_cluster::ask("squeue --noheader --array --format='%F_%K' | grep _2");
  CHECK(slurm_cluster::ask("scontrol requeue " + job).empty());

  // The copy on the lost node is still there; the new one waits for it.
  INFO(slurm_cluster::ask("squeue --array; sinfo -N") << log_of(folder, 1));
  REQUIRE(eventually(
      [&] { return log_of(folder, 1).find("waiting for its end") != std::string::npos; }));
  CHECK_THAT(log_of(folder, 1), ContainsSubstring(fmt::format(
                                    "is being written by another run: process {} on ", old_copy)));
  CHECK(cells_in(journal(folder, 1)) == 1);
  still_there.reset();
  REQUIRE(eventually(is_over));
  INFO(log_of(folder, 0) << log_of(folder, 1) << log_of(folder, 2));
  CHECK(read_text(journal(folder, 0)).starts_with(then));
  for (int shard = 0; shard < 3; ++shard) {
    CHECK(cells_in(journal(folder, shard)) == 6);  // none is stored twice
    CHECK_THAT(log_of(folder, shard), ContainsSubstring(", start 2\n"));
  }
  const json results = merged(folder);
  REQUIRE(results.at("cells").size() == 18);
  for (std::size_t i = 0; i < 18; ++i)
    CHECK(results["cells"][i]["verdict"] == (i % 3 == 1 ? "hung" : "pass"));
}
