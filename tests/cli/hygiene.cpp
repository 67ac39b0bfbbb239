// What is left when a run is over: nothing.
#include "support/catch.hpp"
#include "support/program.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

using kzoo::test::ContainsSubstring;
using kzoo::test::hostile_folder;
using kzoo::test::plugin_folder;
using kzoo::test::runner;
using kzoo::test::scratch_folder;
using kzoo::test::within_seconds;

namespace fs = std::filesystem;

namespace {

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// How many processes have the words in one of their /proc files.
int count_processes(const char* file, const std::string& words) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    if (std::isdigit(static_cast<unsigned char>(entry.path().filename().string()[0])) == 0)
      continue;
    count += read(entry.path() / file).find(words) != std::string::npos;
  }
  return count;
}

// In the environment of a runner and of all that it starts.
std::string marker() { return fmt::format("KZOO_TEST_MARK=hygiene-{}", getpid()); }

}  // namespace

TEST_CASE("a process that a plugin detaches ends with the run", "[cli][hostile]") {
  const auto ran = runner("quick --device cpu --sizes 8 --plugins leaves_child --plugin-dir " +
                          hostile_folder());
  INFO(ran.out << ran.err);
  CHECK(ran.code == 0);
  CHECK(count_processes("comm", "kzoo-stray") == 0);
}

TEST_CASE("workers do not outlive a supervisor that is killed", "[cli][hostile]") {
  const scratch_folder folder;
  const auto pid_file = (folder.path() / "pid").string();
  const std::string command = fmt::format(
      "{} '{}' quick --device cpu --sizes 8 --plugins never_returns,naive --plugin-dir '{}' "
      ">/dev/null 2>&1 & echo $! >'{}'",
      marker(), KZOO_RUNNER, hostile_folder(), pid_file);
  REQUIRE(std::system(command.c_str()) == 0);
  // The supervisor, and a worker for each plugin.
  REQUIRE(within_seconds(20, [] { return count_processes("environ", marker()) >= 3; }));
  kill(std::stoi(read(pid_file)), SIGKILL);
  CHECK(within_seconds(2, [] { return count_processes("environ", marker()) == 0; }));
}

TEST_CASE("Ctrl-C ends a validation and its worker", "[cli][hostile]") {
  const scratch_folder folder;
  kzoo::test::running run({"validate", "never_returns", "--device", "cpu", "--timeout", "60",
                           "--plugin-dir", hostile_folder()},
                          folder.path());
  REQUIRE(within_seconds(20, [&] { return !kzoo::test::children_of(run.pid()).empty(); }));
  const std::vector<int> workers = kzoo::test::children_of(run.pid());
  run.send(SIGINT);
  const auto ended = run.wait();
  INFO(ended.out << ended.err);
  CHECK(ended.code == 130);
  CHECK_THAT(ended.out, ContainsSubstring("INTERRUPTED"));
  for (const int worker : workers) CHECK(kill(worker, 0) != 0);
}

TEST_CASE("run after run leaves no process, no file and the same verdicts", "[cli][hostile]") {
  const scratch_folder folder;
  const auto file = folder.write("again.toml",
                                 "plugins = ['segfault', 'naive:8x8', 'never_returns']\n"
                                 "[problem]\nsizes = [8]\n[timing]\nrounds = 2\nmin_samples = 2\n"
                                 "[verify]\ntimeout_seconds = 0.2\n");
  const auto files_in = [](const fs::path& where) {
    return std::distance(fs::directory_iterator(where), fs::directory_iterator());
  };
  const auto in_shm = files_in("/dev/shm"), in_tmp = files_in(folder.path());
  for (int i = 0; i < 10; ++i) {
    const auto ran = runner(file + " --device cpu --json - --plugin-dir " + hostile_folder(),
                            marker() + " TMPDIR=" + folder.path().string());
    REQUIRE(ran.code == 1);
    const auto results = ran.json();
    std::string verdicts;
    for (const auto& cell : results.at("cells"))
      verdicts += cell.at("verdict").get<std::string>() + " ";
    CHECK(verdicts == "crashed pass hung ");
  }
  CHECK(count_processes("environ", marker()) == 0);
  CHECK(files_in("/dev/shm") == in_shm);
  CHECK(files_in(folder.path()) == in_tmp);
}

TEST_CASE("a plugin folder that others may write to gets a warning", "[cli]") {
  const scratch_folder folder;
  fs::copy(plugin_folder("cpu") / "naive.so", folder.path() / "mine.so");
  const std::string list = "list --plugin-dir " + folder.path().string();
  CHECK(runner(list).err.empty());
  chmod(folder.path().c_str(), 0777);
  CHECK_THAT(runner(list).err,
             ContainsSubstring("warning: everybody may write to the plugin folder " +
                               folder.path().string()));
}
