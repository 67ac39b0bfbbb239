// One run on several devices. The tests' own are the cpu twice: the same mechanism, without GPUs.
#include "devices/devices.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <thread>

using namespace kzoo::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

// What "cuda:all" is while this lives.
class all_devices : environment {
 public:
  explicit all_devices(const char* names) : environment("KZOO_ALL_DEVICES", names) {}
};

// Four problems of three cells, the second of which hangs. Without times, each is stored at once.
std::string hanging(double timeout) {
  return fmt::format(
      "device = 'cuda:all'\nplugins = ['serial:ikj', 'launches:never_returns', 'naive:8x8']\n"
      "[problem]\nsizes = [8, 16, 24, 32]\n[timing]\nenabled = false\n"
      "[verify]\ntimeout_seconds = {}\n",
      timeout);
}

std::string in(const scratch_folder& folder) { return "cd '" + folder.path().string() + "' &&"; }

// Of each cell after the first line, in the order of the journal.
std::vector<int> sizes_in(const fs::path& journal) {
  std::vector<int> sizes;
  for (const std::string& line : lines_of(journal)) {
    const json j = json::parse(line);
    if (j.contains("cell")) sizes.push_back(j["cell"]["problem"]["m"].get<int>());
  }
  return sizes;
}

// Its first cells are stored, one of each part, and both hang in the next.
void wait_for_both(const fs::path& journal, std::size_t lines) {
  REQUIRE(comes_true([&] { return fs::exists(journal) && lines_of(journal).size() == lines; }));
}

// That it may run on, as the kernel lists them.
std::string processors_of(int pid) {
  for (const std::string& line : lines_of(fmt::format("/proc/{}/status", pid))) {
    if (line.starts_with("Cpus_allowed_list:")) return line;
  }
  return "";
}

bool is_gone(int pid) { return kill(pid, 0) != 0; }

std::string verdicts_of(const json& results) {
  std::string text;
  for (const json& c : results.at("cells")) {
    text += fmt::format("{} {} {}\n", c["problem"]["name"].get<std::string>(),
                        c["plugin"].get<std::string>(), c["verdict"].get<std::string>());
  }
  return text;
}

}  // namespace

TEST_CASE("problems are spread, the largest first, and reported in the experiment's order",
          "[cli]") {
  const scratch_folder folder;
  folder.write("e.toml",
               "baseline = 'serial:ikj'\nplugins = ['serial', 'naive:8x8']\n[problem]\n"
               "sizes = [8, 16, 24, 32]\n[timing]\nrounds = 3\nmin_samples = 3\n");
  const auto one = runner("e.toml --device cpu --no-journal --json -", in(folder));
  const all_devices two("cpu,cpu");
  const auto ran =
      runner("e.toml --device cuda:all --journal j.jsonl --json r.json --md r.md", in(folder));
  INFO(ran.out << ran.err);
  REQUIRE(ran.code == 0);
  const json results = json::parse(read_text(folder.path() / "r.json"));
  CHECK(results.at("devices") == json::array({"cpu", "cpu"}));
  CHECK(results.at("agreement").size() == 4 * 3);
  CHECK(verdicts_of(results) == verdicts_of(one.json()));
  const auto table = [&](const char* size) { return ran.out.find(fmt::format("\n{} f32", size)); };
  CHECK(table("8x8x8") < table("16x16x16"));
  CHECK(table("16x16x16") < table("24x24x24"));
  CHECK(table("24x24x24") < table("32x32x32"));

  const std::vector<int> sizes = sizes_in(folder.path() / "j.jsonl");
  REQUIRE(sizes.size() == 12);
  // Of three cells each: 16 begins when one of the larger is done, and 8 when two are.
  const auto first = [&](int size) { return std::ranges::find(sizes, size) - sizes.begin(); };
  CHECK(sizes.front() > 16);
  CHECK(first(16) >= 3);
  CHECK(first(8) >= 6);
  CHECK(runner("report --json j.jsonl", in(folder)).out == read_text(folder.path() / "r.json"));
  CHECK(runner("report --md j.jsonl", in(folder)).out == read_text(folder.path() / "r.md"));
  const auto again = runner("rerun j.jsonl --no-journal --json -", in(folder));
  CHECK(again.code == 0);
  CHECK(again.json().at("devices").size() == 2);
}

TEST_CASE("a part that dies costs its problem, and the run goes on", "[cli][hostile]") {
  const scratch_folder folder;
  const all_devices two("cpu,cpu");
  folder.write("e.toml", hanging(4));
  const fs::path journal = folder.path() / "j.jsonl";
  running run({"e.toml", "--plugin-dir", hostile_folder(), "--journal", "j.jsonl"}, folder.path());
  wait_for_both(journal, 3);
  const std::vector<int> parts = children_of(run.pid());
  REQUIRE(parts.size() == 2);
  CHECK((processors_of(parts[0]) != processors_of(parts[1]) ||
         std::thread::hardware_concurrency() < 2));
  const std::vector<int> workers = descendants_of(parts[0]);
  CHECK(workers.size() == 3);
  kill(parts[0], SIGKILL);
  CHECK(comes_true([&] { return std::ranges::all_of(workers, is_gone); }));
  const auto ended = run.wait();
  INFO(ended.out << ended.err);
  CHECK(ended.code == 1);
  CHECK_THAT(ended.err, ContainsSubstring("cpu is lost: its process was killed by SIGKILL; "));
  CHECK_THAT(ended.err, ContainsSubstring(" f32 is not finished\n"));
  CHECK_THAT(ended.out, ContainsSubstring("2 of 12 cells not run"));
  CHECK_THAT(ended.out, ContainsSubstring("run --resume j.jsonl"));
  CHECK(sizes_in(journal).size() == 10);

  const auto resumed = runner("--resume j.jsonl --json -", in(folder));
  INFO(resumed.err);
  CHECK(resumed.code == 1);
  const json results = resumed.json();
  REQUIRE(results.at("cells").size() == 12);
  for (std::size_t i = 0; i < 12; ++i) {
    const json& c = results["cells"][i];
    CHECK(c["problem"]["m"] == 8 * (i / 3 + 1));
    CHECK(c["verdict"] == (i % 3 == 1 ? "hung" : "pass"));
  }
  CHECK(runner("report --json j.jsonl", in(folder)).out == resumed.out);
}

TEST_CASE("an interrupted run ends its parts, and goes on with all of them", "[cli][hostile]") {
  const scratch_folder folder;
  const all_devices two("cpu,cpu");
  folder.write("e.toml", hanging(4));
  const fs::path journal = folder.path() / "j.jsonl";
  std::vector<int> started;
  {
    running run({"e.toml", "--plugin-dir", hostile_folder(), "--journal", "j.jsonl"},
                folder.path());
    wait_for_both(journal, 3);
    started = descendants_of(run.pid());
    CHECK(started.size() == 2 * (1 + 3));
    run.send(SIGINT);
    const auto ended = run.wait();
    CHECK(ended.code == 130);
    CHECK_THAT(ended.out, ContainsSubstring("10 of 12 cells not run"));
  }
  CHECK(std::ranges::all_of(started, is_gone));
  CHECK(sizes_in(journal).size() == 2);

  const auto resumed = runner("--resume j.jsonl --json -", in(folder));
  INFO(resumed.err);
  CHECK(resumed.code == 1);
  CHECK(resumed.json().at("cells").size() == 12);
  CHECK(sizes_in(journal).size() == 12);
  const std::string notes = resumed.json().at("notes").dump();
  CHECK_THAT(notes, ContainsSubstring("24x24x24 f32, 32x32x32 f32, results from before"));
}

TEST_CASE("no part outlives a run that is killed", "[cli][hostile]") {
  const scratch_folder folder;
  const all_devices two("cpu,cpu");
  folder.write("e.toml", hanging(60));
  running run({"e.toml", "--plugin-dir", hostile_folder(), "--journal", "j.jsonl"}, folder.path());
  wait_for_both(folder.path() / "j.jsonl", 3);
  const std::vector<int> started = descendants_of(run.pid());
  CHECK(started.size() == 2 * (1 + 3));
  run.send(SIGKILL);
  CHECK(comes_true([&] { return std::ranges::all_of(started, is_gone); }));
}

TEST_CASE("several devices are not for one process", "[cli]") {
  const all_devices two("cpu,cpu");
  const auto ran = runner("quick --device cuda:all --in-process --no-journal");
  CHECK(ran.code == 2);
  CHECK_THAT(ran.err, ContainsSubstring("--in-process is for one device"));
  CHECK(runner("validate naive --device cuda:all").code == 2);
}

TEST_CASE("all GPUs are asked for where there is none", "[cli]") {
  CHECK(runner("quick --device cuda:all --no-journal", kNoGpu).code == 3);
}

TEST_CASE("all GPUs of a host take part", "[cli][.gpu]") {
  needs_gpu();
  const auto run_on = [](const char* device) {
    const auto ran =
        runner(fmt::format("quick --device {} --plugins smem,cublas "
                           "--sizes 256,512,768,1024 --no-journal --json -",
                           device));
    INFO(ran.err);
    REQUIRE(ran.code == 0);
    return ran.json();
  };
  const json one = run_on("cuda"), all = run_on("cuda:all");
  CHECK(verdicts_of(one) == verdicts_of(all));
  CHECK(one.at("device") == all.at("device"));
  std::set<std::string> used;
  for (const json& c : all.at("cells")) used.insert(c.at("device").get<std::string>());
  CHECK(used.size() == std::min<std::size_t>(4, all.at("devices").size()));
}
