// What jobs of a cluster's scheduler need, which may be started again at any time, on any machine.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/verdicts.hpp"

#include <nlohmann/json.hpp>

#include <signal.h>

#include <filesystem>
#include <fstream>

using namespace kzoo::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr const char* kFour =
    "plugins = ['serial']\n[problem]\nsizes = [8, 16, 24, 32]\n[timing]\nenabled = false\n";
// The second of the three cells takes four seconds.
constexpr const char* kHanging =
    "plugins = ['serial:ikj', 'launches:never_returns', 'naive:8x8']\n[problem]\nsizes = [8]\n"
    "[timing]\nenabled = false\n[verify]\ntimeout_seconds = 4\n";
constexpr const char* kJob = "e.toml --device cpu --journal j.jsonl --or-resume ";

std::size_t cells_in(const fs::path& journal) {
  std::size_t cells = 0;
  for (const std::string& line : lines_of(journal)) cells += line.starts_with("{\"cell\"") ? 1 : 0;
  return cells;
}

}  // namespace

TEST_CASE("a run of some problems has their cells alone, and goes on with them", "[cli]") {
  const scratch_folder folder;
  folder.write("e.toml", kFour);
  const auto all = runner("e.toml --device cpu --no-journal --json -", in(folder));
  const auto some =
      runner("e.toml --device cpu --problems 1,3 --journal j.jsonl --json -", in(folder));
  INFO(some.err);
  REQUIRE(some.code == 0);
  const json cells = some.json().at("cells");
  REQUIRE(cells.size() == 4);  // of two variants
  CHECK(cells[0]["problem"] == all.json()["cells"][2]["problem"]);
  CHECK(cells[2]["problem"] == all.json()["cells"][6]["problem"]);
  CHECK(some.json()["experiment"]["overrides"]["problems"] == json::array({"1", "3"}));

  const auto lines = lines_of(folder.path() / "j.jsonl");
  std::ofstream(folder.path() / "j.jsonl") << lines[0] << '\n' << lines[1] << '\n';
  const auto on = runner("run --resume j.jsonl --json -", in(folder));
  CHECK(on.code == 0);
  CHECK(on.json().at("cells").size() == 4);
  CHECK_THAT(
      runner("check e.toml --device cpu --problems 1,3", in(folder)).out,
      ContainsSubstring(" on 2 problems = 4 cells on cpu\n  16x16x16 f32\n  32x32x32 f32\n"));
}

TEST_CASE("--or-resume begins a journal, or goes on with what is there of it", "[cli]") {
  const scratch_folder folder;
  const fs::path journal = folder.path() / "j.jsonl";
  folder.write("e.toml", kFour);
  REQUIRE(runner(kJob, in(folder)).code == 0);
  const auto lines = lines_of(journal);
  REQUIRE(lines.size() == 9);

  // Whatever the machine left of it: nothing, half a first line, two cells and half of a third.
  for (const std::string& left :
       {std::string(), lines[0].substr(0, 100),
        lines[0] + '\n' + lines[1] + '\n' + lines[2] + '\n' + lines[3].substr(0, 100)}) {
    folder.write("j.jsonl", left);
    const auto on = runner(std::string(kJob) + "--json -", in(folder));
    INFO(left << on.err);
    CHECK(on.code == 0);
    CHECK(on.json().at("cells").size() == 8);
    CHECK(cells_in(journal) == 8);
    if (left.size() > lines[0].size())
      CHECK(read_text(journal).starts_with(lines[0] + '\n' + lines[1]));
  }
  check_refused(std::string(kJob) + "--problems 1", {"j.jsonl: error: cannot be continued"},
                in(folder));
  for (const char* other : {"a diary\n", "a diary"}) {
    folder.write("j.jsonl", other);
    check_refused(kJob, {"j.jsonl: error: is not the journal of a run"}, in(folder));
    CHECK(read_text(journal) == other);
  }
  check_refused("e.toml --or-resume", {"--journal"}, in(folder));
}

TEST_CASE("a second copy of a job waits for the first, and runs nothing again", "[cli][hostile]") {
  const scratch_folder folder;
  const fs::path journal = folder.path() / "j.jsonl";
  folder.write("e.toml", kHanging);
  const std::vector<std::string> words{"e.toml",  "--device",    "cpu",          "--journal",
                                       "j.jsonl", "--or-resume", "--plugin-dir", hostile_folder()};
  background_run first(words, folder.path());
  REQUIRE(eventually([&] { return fs::exists(journal) && cells_in(journal) == 1; }));
  check_refused("run --resume j.jsonl --trust-folders",
                {"j.jsonl: error: is being written by another run: process ",
                 std::to_string(first.pid()), " on ", ", since 20"},
                in(folder));
  background_run second(words, folder.path());
  REQUIRE(
      eventually([&] { return second.err().find("waiting for its end") != std::string::npos; }));
  CHECK_THAT(second.err(), ContainsSubstring("process " + std::to_string(first.pid()) + " on "));

  SECTION("which ends") {
    CHECK(first.wait().code == 1);
    CHECK(second.wait().code == 1);
    CHECK_THAT(read_text(journal), !ContainsSubstring("resumed"));  // nothing was left to run
  }
  SECTION("which is killed") {
    first.send(SIGKILL);
    const auto ended = second.wait();
    CHECK(ended.code == 1);
    CHECK_THAT(ended.out, ContainsSubstring("interrupted after 1 of 3 cells and continued later"));
  }
  CHECK(cells_in(journal) == 3);
  CHECK(runner("report --json j.jsonl", in(folder)).json().at("cells").size() == 3);
}
