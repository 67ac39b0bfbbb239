// A run leaves no process and no file behind.
#include "compile/run_compiler.hpp"
#include "os/text.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/process_log.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"
#include "support/terminal.hpp"
#include "support/verdicts.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

using namespace kzoo::test;
using nlohmann::json;

namespace fs = std::filesystem;

namespace {

// While it exists, this process is a subreaper: orphans become its children, even from other
// process groups and sessions. So they are found without searching all processes of the machine.
class orphan_collector {
 public:
  orphan_collector() { prctl(PR_SET_CHILD_SUBREAPER, 1); }
  // Leaves no orphans to the next test.
  ~orphan_collector() {
    for (const int pid : children_of(getpid())) kill(pid, SIGKILL);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
  }
  orphan_collector(const orphan_collector&) = delete;
  orphan_collector& operator=(const orphan_collector&) = delete;

  // Reaps ended children, so call it only when nothing else waits for a child.
  bool is_empty() const {
    while (waitpid(-1, nullptr, WNOHANG) > 0) continue;
    return children_of(getpid()).empty();
  }
};

// A run with a kernel that never returns, and is waited for now. The other one waits for its turn.
class hanging_run {
 public:
  hanging_run() {
    folder_.write("e.toml",
                  "plugins = ['serial:ikj', 'launches:never_returns']\nproblem.sizes = [8, 9]\n"
                  "timing.enabled = false\nverify.timeout_seconds = 3\n");
    run_.emplace(std::vector<std::string>{"e.toml", "--device", "cpu", "--plugin-dir",
                                          hostile_folder(), "--json", "r.json"},
                 folder_.path());
    REQUIRE(hanging_.wait_for_entry());
  }
  std::vector<int> workers() const { return children_of(run_->pid()); }
  run_result wait() { return run_->wait(); }
  json cells() const { return json::parse(read_text(folder_.path() / "r.json")).at("cells"); }

 private:
  process_log hanging_;
  scratch_folder folder_;
  std::optional<background_run> run_;
};

}  // namespace

TEST_CASE("a plugin starts no process, and one that it could detach ends with the run",
          "[cli][hostile]") {
  const orphan_collector orphans;
  const process_log strays;
  const auto ran = run_hostile("quick --device cpu --sizes 8 --plugins native:leaves_child");
  INFO(ran.out << ran.err);
  CHECK(ran.code == 0);
  CHECK(strays.processes().empty());  // where the kernel has seccomp
  for (const std::string& pid : strays.processes()) CHECK(has_ended(std::stoi(pid)));
  CHECK(orphans.is_empty());
}

TEST_CASE("workers do not outlive a supervisor that is killed", "[cli][hostile]") {
  const orphan_collector orphans;
  const process_log hanging;
  const scratch_folder folder, temporary;
  const environment place("TMPDIR", temporary.path().string());
  background_run run({"quick", "--device", "cpu", "--sizes", "8", "--plugins",
                      "launches:never_returns,naive", "--plugin-dir", hostile_folder()},
                     folder.path());
  REQUIRE(hanging.wait_for_entry());
  const std::vector<int> workers = descendants_of(run.pid());
  CHECK(workers.size() == 2);  // one for each plugin
  // Memory shared with the supervisor must be anonymous, so that no file can be left behind.
  for (const int worker : workers) {
    for (const auto& open : fs::directory_iterator(fmt::format("/proc/{}/fd", worker)))
      CHECK_THAT(fs::read_symlink(open).string(), !ContainsSubstring("/dev/shm/"));
  }
  run.send(SIGKILL);
  run.wait();
  CHECK(eventually([&] { return orphans.is_empty(); }));

  // The next run removes the workers' temporary folders, unless they have just been made.
  CHECK_FALSE(fs::is_empty(temporary.path()));
  for (const auto& left : fs::directory_iterator(temporary.path()))
    fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(1));
  CHECK(runner("quick --device cpu --sizes 8 --plugins serial:ikj").code == 0);
  CHECK(fs::is_empty(temporary.path()));
}

TEST_CASE("a worker that is killed while it waits is replaced, and its next cell says so",
          "[cli][hostile]") {
  hanging_run run;
  const auto is_stopped = [](int pid) {
    const std::string status = read_text(fmt::format("/proc/{}/stat", pid));
    return status.compare(status.rfind(')') + 2, 1, "T") == 0;
  };
  const std::vector<int> workers = run.workers();
  const auto serial = std::ranges::find_if(workers, is_stopped);
  REQUIRE(serial != workers.end());
  kill(*serial, SIGKILL);
  const auto ended = run.wait();
  INFO(ended.out << ended.err);
  CHECK(ended.code == 1);  // the other one hangs
  const json cells = run.cells();
  CHECK(cells.at(0).at("checks").empty());
  CHECK(cells.at(2).at("verdict") == "pass");
  CHECK(cells.at(2).at("checks").at(0).at("check") == "worker ended");
  CHECK_THAT(ended.out,
             ContainsSubstring("worker serial:ikj: its process ended while it waited for "
                               "this problem (SIGKILL, killed from outside"));
}

TEST_CASE("a signal to all processes of a job leaves no kernel that seems to have crashed",
          "[cli][hostile]") {
  hanging_run run;
  const std::vector<int> workers = run.workers();
  REQUIRE(workers.size() == 2);
  for (const int worker : workers) CHECK(kill(worker, SIGTERM) == 0);
  const auto ended = run.wait();
  INFO(ended.out << ended.err);
  const json cells = run.cells();
  CHECK(cells.at(1).at("verdict") == "hung");
  CHECK(cells.at(2).at("verdict") == "pass");
  CHECK(cells.at(2).at("checks").empty());
}

TEST_CASE("Ctrl-C ends a validation and its worker", "[cli][hostile]") {
  const process_log hanging;
  const scratch_folder folder;
  background_run run({"validate", "launches:never_returns", "--device", "cpu", "--timeout", "600",
                      "--plugin-dir", hostile_folder()},
                     folder.path());
  REQUIRE(hanging.wait_for_entry());
  const std::vector<int> workers = children_of(run.pid());
  CHECK(workers.size() == 1);
  run.send(SIGINT);
  const auto ended = run.wait();
  INFO(ended.out << ended.err);
  CHECK(ended.code == 130);
  CHECK_THAT(ended.out, ContainsSubstring("INTERRUPTED"));
  for (const int worker : workers) CHECK(has_ended(worker));
}

TEST_CASE("shared mappings count as memory of a worker", "[cli][hostile]") {
  const environment part("KZOO_RANKS", "64");  // the test must not fill the machine's memory
  const auto ran =
      run_hostile("quick --device cpu --sizes 8 --plugins process:shares_memory,naive:8x8");
  INFO(ran.out << ran.err);
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, ContainsSubstring("error process:shares_memory: no more host memory") &&
                          ContainsSubstring("shared mappings included") &&
                          ContainsSubstring("killed while the kernel ran"));
}

TEST_CASE("shared memory segments that a plugin leaves behind are removed", "[cli][hostile]") {
  const process_log left;  // the segment, then the process, whose number is in the other one's name
  const auto ran = run_hostile("quick --device cpu --sizes 8 --plugins process:leaves_segments");
  INFO(ran.out << ran.err);
  REQUIRE(left.processes().size() >= 2);
  shmid_ds status{};
  CHECK(shmctl(std::stoi(left.processes()[0]), IPC_STAT, &status) != 0);
  CHECK_FALSE(fs::exists("/dev/shm/kzoo-test-" + left.processes()[1]));
}

TEST_CASE("a plugin cannot reach the results, other processes and descriptors",
          "[cli][hostile][.landlock]") {
  needs_landlock();
  // Results are safe even in the temporary folder, in which workers have theirs.
  const scratch_folder folder;
  const fs::path journal = folder.path() / "journal.jsonl";
  const environment victim("KZOO_VICTIM", journal.string()), token("KZOO_TOKEN", "secret"),
      compiled("CUDA_CACHE_PATH", folder.path().string());
  // With a terminal, whose lines it could write, and on which it could type.
  const auto ran = on_terminal(
      fmt::format("9>>{} quick --device cpu --sizes 8 --plugins process:attacks_others,naive "
                  "--journal {} --json {} --plugin-dir {}",
                  shell_word(folder.path() / "of-the-shell"), shell_word(journal),
                  shell_word(folder.path() / "out.json"), shell_word(hostile_folder())),
      200, "TMPDIR=" + folder.path().string());
  INFO(ran.out);
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, ContainsSubstring("process:attacks_others: it: nothing"));
  CHECK(lines_of(journal).size() > 1);
}

TEST_CASE("a compiler that another program asks for writes in its folder alone",
          "[cli][hostile][.landlock]") {
  needs_landlock();
  const scratch_folder folder, elsewhere;
  const std::string ok = (folder.path() / "ok").string();
  const std::string other = (elsewhere.path() / "other").string();
  const auto ran =
      runner(fmt::format("__compiler {} sh -c ': >{}; : >{}'", shell_word(folder.path()),
                         shell_word(ok), shell_word(other)));
  INFO(ran.err);
  CHECK(ran.code == kzoo::compile::kCompilerFailed);
  CHECK(fs::exists(ok));
  CHECK_FALSE(fs::exists(other));
}

TEST_CASE("repeated runs give the same verdicts and leave no process or file", "[cli][hostile]") {
  const orphan_collector orphans;
  const scratch_folder folder, temporary;
  const auto file = folder.write("again.toml",
                                 "plugins = ['launches:segfault', 'launches:never_returns', "
                                 "'process:leaves_files', 'naive:8x8']\n[problem]\nsizes = [8]\n"
                                 "[timing]\nrounds = 2\nmin_samples = 2\n"
                                 "[verify]\ntimeout_seconds = 2\n");
  for (int i = 0; i < 3; ++i) {
    const auto ran =
        run_hostile(file + " --device cpu --json -", "TMPDIR='" + temporary.path().string() + "'");
    REQUIRE(ran.code == 1);
    const auto results = ran.json();
    std::string verdicts;
    for (const auto& cell : results.at("cells"))
      verdicts += cell.at("verdict").get<std::string>() + " ";
    CHECK(verdicts == "crashed hung crashed pass ");
    CHECK(orphans.is_empty());
    CHECK(fs::is_empty(temporary.path()));
  }
}

TEST_CASE("a plugin folder that others may write to gets a warning", "[cli]") {
  const scratch_folder folder;
  fs::copy(plugin_folder("cpu") / "naive.so", folder.path() / "mine.so");
  const std::string list = "list --plugin-dir " + folder.path().string();
  CHECK(runner(list).err.empty());
  chmod(folder.path().c_str(), 0777);
  CHECK_THAT(runner(list).err,
             ContainsSubstring("warning: every user can write to the plugin folder " +
                               folder.path().string()));
}
