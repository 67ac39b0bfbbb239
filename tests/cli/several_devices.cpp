// One run on several devices. Most tests use the cpu as two devices, so that they need no GPU.
#include "devices/devices.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"
#include "support/verdicts.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <thread>

using namespace kzoo::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

// Sets the devices that "cuda:all" means.
class all_devices : environment {
 public:
  explicit all_devices(const char* names) : environment("KZOO_ALL_DEVICES", names) {}
};

// Four problems of three cells, of which the second hangs. Without timing each is stored when
// judged.
std::string hanging(double timeout) {
  return fmt::format(
      "device = 'cuda:all'\nplugins = ['serial:ikj', 'launches:never_returns', 'naive:8x8']\n"
      "[problem]\nsizes = [8, 16, 24, 32]\n[timing]\nenabled = false\n"
      "[verify]\ntimeout_seconds = {}\n",
      timeout);
}

// M of each cell, in the order of the journal.
std::vector<int> sizes_in(const fs::path& journal) {
  std::vector<int> sizes;
  for (const std::string& line : lines_of(journal)) {
    const json j = json::parse(line);
    if (j.contains("cell")) sizes.push_back(j["cell"]["problem"]["m"].get<int>());
  }
  return sizes;
}

// Waits until each rank has stored its first cell and hangs in the second.
void wait_for_both(const fs::path& journal, std::size_t lines) {
  REQUIRE(eventually([&] { return fs::exists(journal) && lines_of(journal).size() == lines; }));
}

// The CPUs that the process may run on, as Linux lists them.
std::string processors_of(int pid) {
  for (const std::string& line : lines_of(fmt::format("/proc/{}/status", pid))) {
    if (line.starts_with("Cpus_allowed_list:")) return line;
  }
  return "";
}

std::string verdicts_of(const json& results) {
  std::string text;
  for (const json& c : results.at("cells")) {
    text += fmt::format("{} {} {}\n", c["problem"]["name"].get<std::string>(),
                        c["plugin"].get<std::string>(), c["verdict"].get<std::string>());
  }
  return text;
}

}  // namespace

TEST_CASE("problems are dispatched largest first and reported in the experiment's order", "[cli]") {
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
  CHECK_THAT(ran.out, ContainsSubstring("· 12 of 12 pairs agree ·"));  // 3 on each problem
  CHECK(verdicts_of(results) == verdicts_of(one.json()));
  const auto table = [&](const char* size) { return ran.out.find(fmt::format("\n{} f32", size)); };
  CHECK(table("8x8x8") < table("16x16x16"));
  CHECK(table("16x16x16") < table("24x24x24"));
  CHECK(table("24x24x24") < table("32x32x32"));

  const std::vector<int> sizes = sizes_in(folder.path() / "j.jsonl");
  REQUIRE(sizes.size() == 12);
  // Each problem has three cells: 16 starts when one larger problem is done, 8 when two are.
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

TEST_CASE("speedups of a divided problem are ratios of times on one device", "[cli][hostile]") {
  const scratch_folder folder;
  folder.write("e.toml",
               "baseline = 'native:slow_elsewhere'\nplugins = ['native:slow_elsewhere*']\n"
               "[problem]\nsizes = [64]\n[timing]\nrounds = 5\nmin_samples = 5\n");
  const all_devices two("cpu,cpu");
  const auto ran = run_hostile("e.toml --device cuda:all --journal j.jsonl --json -", in(folder));
  INFO(ran.out << ran.err);
  REQUIRE(ran.code == 0);
  const json cells = ran.json().at("cells");
  REQUIRE(cells.size() == 3);
  for (const json& c : cells) {
    CHECK(c.at("speedup_over_baseline") > 0.6);
    CHECK(c.at("speedup_over_baseline") < 1.7);
  }
  // The evidence that the device without CPU 0 is slower.
  const auto ms = [&](std::size_t i) { return cells[i].at("baseline_ms").get<double>(); };
  cpu_set_t allowed;
  REQUIRE(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  if (CPU_COUNT(&allowed) > 1 && CPU_ISSET(0, &allowed))
    CHECK(std::max(ms(1), ms(2)) > 1.3 * std::min(ms(1), ms(2)));
  CHECK(runner("report --json j.jsonl", in(folder)).out == ran.out);
}

TEST_CASE("the kernels of a divided problem are compared with each other", "[cli][hostile]") {
  const scratch_folder folder;
  folder.write("e.toml",
               "baseline = 'serial:ikj'\nplugins = ['openblas', 'serial', 'naive', "
               "'wrong_results', 'sliced_k', 'split_k']\n[problem]\nsizes = ['64x64x1500']\n"
               "[timing]\nenabled = false\n");
  const auto one = run_hostile("e.toml --device cpu --no-journal --json -", in(folder));
  const all_devices three("cpu,cpu,cpu");
  const auto all = run_hostile("e.toml --device cuda:all --no-journal --json -", in(folder));
  INFO(all.err);
  CHECK(all.code == 1);
  const json of_one = one.json().at("cells"), of_all = all.json().at("cells");
  REQUIRE(of_one.size() == of_all.size());
  std::size_t compared = 0;
  for (std::size_t i = 0; i < of_one.size(); ++i) {
    for (const char* key :
         {"plugin", "variant", "verdict", "accuracy", "same_as", "differs_from"}) {
      CAPTURE(i, key);
      CHECK(of_one[i].value(key, json()) == of_all[i].value(key, json()));
    }
    compared += of_all[i].value("differs_from", json()).size();
  }
  CHECK(compared > 20);
}

TEST_CASE("kernels do not equal each other by a baseline that varies between devices",
          "[cli][hostile]") {
  cpu_set_t allowed;
  REQUIRE(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  if (CPU_COUNT(&allowed) < 2 || !CPU_ISSET(0, &allowed)) return;
  const scratch_folder folder;
  folder.write("e.toml",
               "baseline = 'native:bits_elsewhere'\nplugins = ['native:bits_elsewhere*']\n"
               "[problem]\nsizes = [64]\n[timing]\nenabled = false\n");
  const all_devices two("cpu,cpu");
  const auto ran = run_hostile("e.toml --device cuda:all --no-journal --json -", in(folder));
  INFO(ran.out << ran.err);
  REQUIRE(ran.code == 0);
  const json cells = ran.json().at("cells");
  REQUIRE(cells.size() == 3);
  // On a busy machine one rank may run both shares.
  if (cells[1].at("accuracy") == cells[2].at("accuracy")) return;
  for (const json& c : cells) CHECK(c.value("same_as", json()).is_null());
}

TEST_CASE("if a rank dies in a divided problem, the rest can be resumed", "[cli][hostile]") {
  const scratch_folder folder;
  const all_devices two("cpu,cpu");
  // The baseline hangs in both ranks.
  folder.write("e.toml",
               "device = 'cuda:all'\nbaseline = 'launches:never_returns'\nplugins = ['serial:ijk', "
               "'launches:never_returns', 'naive:8x8', 'naive:16x16']\n[problem]\nsizes = [8]\n"
               "[timing]\nenabled = false\n[verify]\ntimeout_seconds = 4\n");
  background_run run({"e.toml", "--plugin-dir", hostile_folder(), "--journal", "j.jsonl"},
                     folder.path());
  // One share has no kernel of serial.
  REQUIRE(eventually([&] { return descendants_of(run.pid()).size() == (1 + 3) + (1 + 2); }));
  std::this_thread::sleep_for(std::chrono::seconds(1));
  kill(children_of(run.pid()).at(0), SIGKILL);
  const auto ended = run.wait();
  INFO(ended.out << ended.err);
  CHECK(ended.code == 1);
  CHECK_THAT(ended.err, ContainsSubstring("; 8x8x8 f32 is not finished\n"));
  // Which share is lost is a matter of chance.
  CHECK((ended.out.find("1 of 4 cells not run") != std::string::npos ||
         ended.out.find("2 of 4 cells not run") != std::string::npos));

  const auto resumed = runner("--resume j.jsonl --trust-folders --json -", in(folder));
  INFO(resumed.err);
  CHECK(resumed.code == 1);
  const json cells = resumed.json().at("cells");
  REQUIRE(cells.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) CHECK(cells[i]["verdict"] == (i == 1 ? "hung" : "pass"));
  CHECK(runner("report --json j.jsonl", in(folder)).out == resumed.out);
}

TEST_CASE("if a rank dies, only its current problem is lost", "[cli][hostile]") {
  const scratch_folder folder;
  const all_devices two("cpu,cpu");
  folder.write("e.toml", hanging(4));
  const fs::path journal = folder.path() / "j.jsonl";
  background_run run({"e.toml", "--plugin-dir", hostile_folder(), "--journal", "j.jsonl"},
                     folder.path());
  wait_for_both(journal, 3);
  const std::vector<int> ranks = children_of(run.pid());
  REQUIRE(ranks.size() == 2);
  CHECK((processors_of(ranks[0]) != processors_of(ranks[1]) ||
         std::thread::hardware_concurrency() < 2));
  REQUIRE(eventually([&] { return descendants_of(ranks[0]).size() == 3; }));
  const std::vector<int> workers = descendants_of(ranks[0]);
  kill(ranks[0], SIGKILL);
  CHECK(eventually([&] { return std::ranges::all_of(workers, has_ended); }));
  const auto ended = run.wait();
  INFO(ended.out << ended.err);
  CHECK(ended.code == 1);
  CHECK_THAT(ended.err, ContainsSubstring("cpu is lost: its process was killed by SIGKILL; "));
  CHECK_THAT(ended.err, ContainsSubstring(" f32 is not finished\n"));
  CHECK_THAT(ended.out, ContainsSubstring("2 of 12 cells not run"));
  CHECK_THAT(ended.out, ContainsSubstring("run --resume j.jsonl"));
  CHECK(sizes_in(journal).size() == 10);

  const auto resumed = runner("--resume j.jsonl --trust-folders --json -", in(folder));
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

TEST_CASE("a rank that is stopped is lost, not waited for", "[cli][hostile]") {
  const scratch_folder folder;
  const all_devices two("cpu,cpu");
  folder.write("e.toml", hanging(4));
  background_run run({"e.toml", "--plugin-dir", hostile_folder(), "--journal", "j.jsonl"},
                     folder.path());
  wait_for_both(folder.path() / "j.jsonl", 3);
  const std::vector<int> started = descendants_of(run.pid());
  kill(children_of(run.pid()).at(0), SIGSTOP);
  const auto ended = run.wait();
  INFO(ended.out << ended.err);
  CHECK(ended.code == 1);
  CHECK_THAT(ended.err, ContainsSubstring("cpu is lost: its process was stopped by a signal; ") &&
                            ContainsSubstring(" f32 is not finished\n"));
  CHECK(std::ranges::all_of(started, has_ended));
}

TEST_CASE("an interrupted run ends its ranks, and can be resumed on all devices",
          "[cli][hostile]") {
  const scratch_folder folder;
  const all_devices two("cpu,cpu");
  folder.write("e.toml", hanging(4));
  const fs::path journal = folder.path() / "j.jsonl";
  std::vector<int> started;
  {
    background_run run({"e.toml", "--plugin-dir", hostile_folder(), "--journal", "j.jsonl"},
                       folder.path());
    wait_for_both(journal, 3);
    CHECK(eventually([&] { return descendants_of(run.pid()).size() == 2 * (1 + 3); }));
    started = descendants_of(run.pid());
    run.send(SIGINT);
    const auto ended = run.wait();
    CHECK(ended.code == 130);
    CHECK_THAT(ended.out, ContainsSubstring("10 of 12 cells not run"));
  }
  CHECK(std::ranges::all_of(started, has_ended));
  CHECK(sizes_in(journal).size() == 2);

  const auto resumed = runner("--resume j.jsonl --trust-folders --json -", in(folder));
  INFO(resumed.err);
  CHECK(resumed.code == 1);
  CHECK(resumed.json().at("cells").size() == 12);
  CHECK(sizes_in(journal).size() == 12);
  const std::string notes = resumed.json().at("notes").dump();
  CHECK_THAT(notes, ContainsSubstring("24x24x24 f32, 32x32x32 f32, results from before"));
}

TEST_CASE("no rank outlives a killed run", "[cli][hostile]") {
  const scratch_folder folder;
  const all_devices two("cpu,cpu");
  folder.write("e.toml", hanging(60));
  background_run run({"e.toml", "--plugin-dir", hostile_folder(), "--journal", "j.jsonl"},
                     folder.path());
  wait_for_both(folder.path() / "j.jsonl", 3);
  REQUIRE(eventually([&] { return descendants_of(run.pid()).size() == 2 * (1 + 3); }));
  const std::vector<int> started = descendants_of(run.pid());
  run.send(SIGKILL);
  CHECK(eventually([&] { return std::ranges::all_of(started, has_ended); }));
}

TEST_CASE("--in-process is refused for several devices", "[cli]") {
  const all_devices two("cpu,cpu");
  check_refused("quick --device cuda:all --in-process --no-journal",
                {"--in-process: error: it is for one device"});
  CHECK(runner("validate naive --device cuda:all").code == 2);
}

TEST_CASE("--device cuda:all without a GPU has the exit code of a missing device", "[cli]") {
  CHECK(runner("quick --device cuda:all --no-journal", kNoGpu).code == 3);
}

TEST_CASE("cuda:all uses all GPUs of a host", "[cli][.gpu]") {
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
  CHECK(used.size() >= std::min<std::size_t>(4, all.at("devices").size()));
}
