// Plugins that misbehave on purpose: each costs its own cells their verdict, with a reason that a
// person understands, and the others finish.
#include "support/catch.hpp"
#include "support/program.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

using kzoo::test::ContainsSubstring;
using kzoo::test::hostile_folder;
using kzoo::test::plugin_folder;
using kzoo::test::runner;
using kzoo::test::scratch_folder;

namespace {

struct expectation {
  const char* plugin;
  const char* verdict;
  std::vector<const char*> reason;  // words that must be in it
};

// Each plugin between two honest ones, on two problems; a short timeout, as one of them hangs.
void check_each(const std::vector<expectation>& table, const std::string& device) {
  const scratch_folder folder;
  for (const expectation& e : table) {
    const auto file = folder.write(
        "hostile.toml", fmt::format("plugins = ['naive:16x16', '{}', 'smem:16x16']\n"
                                    "[problem]\nsizes = [64, '33x65x17']\n"
                                    "[timing]\nwarmup = 1\nsamples = 2\nmax_seconds = 0.1\n"
                                    "[verify]\ntimeout_seconds = 3\n",
                                    e.plugin));
    const auto ran = runner(
        fmt::format("{} --device {} --json - --plugin-dir {}", file, device, hostile_folder()));
    INFO(e.plugin << " on " << device << "\n" << ran.err);
    CHECK(ran.code == 1);
    const auto cells = ran.json().at("cells");
    REQUIRE(cells.size() == 6);
    for (const auto& cell : cells) {
      INFO(cell.dump(1));
      if (cell.at("plugin") != e.plugin) {
        CHECK(cell.at("verdict") == "pass");
        continue;
      }
      CHECK(cell.at("verdict") == e.verdict);
      CHECK(cell.at("time").is_null());
      CHECK(cell.at("gflops").is_null());
    }
    const auto reason = cells[1].at("reason").get<std::string>();
    for (const char* word : e.reason) CHECK_THAT(reason, ContainsSubstring(word));
  }
}

const std::vector<expectation> kOnBoth = {
    {"launch_1024", "error", {"1024 threads per block", "at most 256"}},
    {"throws", "error", {"no luck today"}},
    {"aborts", "crashed", {"SIGABRT", "created", "giving up"}},
    {"exits", "crashed", {"exit code 7"}},
    {"crashes_on_load", "crashed", {"SIGSEGV", "loaded"}},
    {"never_returns", "hung", {"no answer within", "killed"}},
    {"a_times_a", "wrong", {}},
    {"drops_last_column", "wrong", {"not written", "column"}},
    {"writes_outside", "wrong", {"outside"}},
    {"writes_input", "wrong", {"input A"}},
    {"forges_reply", "crashed", {"channel"}},
    {"crashes_in_destroy", "crashed", {"SIGABRT", "destroyed"}},
};

}  // namespace

TEST_CASE("hostile plugins on the cpu get the verdict that they deserve", "[cli][hostile]") {
  check_each(kOnBoth, "cpu");
  check_each({{"segfault", "crashed", {"SIGSEGV", "memory that is not there"}},
              {"unchecked_launch", "wrong", {"wrote nothing"}},
              {"divergent_barrier", "error", {"divergent barrier", "__syncthreads"}}},
             "cpu");
}

TEST_CASE("hostile plugins on the GPU get the verdict that they deserve", "[cli][hostile][gpu]") {
  if (!kzoo::test::has_gpu()) return;
  check_each(kOnBoth, "cuda");
  check_each({{"segfault", "error", {"illegal memory access"}},
              {"unchecked_launch", "error", {"launch failed, and the plugin did not say so"}}},
             "cuda");
}

TEST_CASE("a plugin that hangs is not waited for again", "[cli][hostile]") {
  const scratch_folder folder;
  const auto file = folder.write("hang.toml",
                                 "plugins = ['never_returns']\n[problem]\nsizes = [8, 9]\n"
                                 "[verify]\ntimeout_seconds = 1\n");
  const auto ran = runner(file + " --device cpu --json - --plugin-dir " + hostile_folder());
  REQUIRE(ran.code == 1);
  const auto cells = ran.json().at("cells");
  REQUIRE(cells.size() == 2);
  CHECK_THAT(cells[0].at("reason").get<std::string>(), ContainsSubstring("no answer within 1 s"));
  CHECK_THAT(cells[1].at("reason").get<std::string>(), ContainsSubstring("not tried again"));
}

TEST_CASE("libraries that are no plugins are unavailable, with the reason", "[cli][hostile]") {
  const scratch_folder folder;
  folder.write("notes.so", std::string(200, '#') + " a text file\n");
  folder.write("empty.so", "");
  const std::string where =
      " --plugin-dir " + hostile_folder() + " --plugin-dir " + folder.path().string();
  const std::vector<expectation> table = {
      {"notes", "unavailable", {"notes.so", "cannot be loaded", "invalid ELF header"}},
      {"empty", "unavailable", {"empty.so", "cannot be loaded", "file too short"}},
      {"no_symbol", "unavailable", {"no symbol kzoo_plugin_v1"}},
      {"abi_v2", "unavailable", {"version 2", "speaks version 1", "build it again"}},
  };
  for (const expectation& e : table) {
    const auto ran = runner(
        fmt::format("quick --device cpu --sizes 8 --json - --plugins {},naive{}", e.plugin, where));
    INFO(e.plugin << "\n" << ran.err);
    CHECK(ran.code == 1);
    const auto cells = ran.json().at("cells");
    REQUIRE(cells.size() == 12);
    CHECK(cells[0].at("verdict") == e.verdict);
    CHECK(cells[1].at("verdict") == "pass");
    const auto reason = cells[0].at("reason").get<std::string>();
    INFO(reason);
    for (const char* word : e.reason) CHECK_THAT(reason, ContainsSubstring(word));

    CHECK_THAT(runner("list" + where).out, ContainsSubstring("unavailable"));
    CHECK(runner(std::string("describe ") + e.plugin + where).code == 1);
  }
}

TEST_CASE("what one variant spoils is not blamed on the next", "[cli][hostile]") {
  const auto ran = runner(
      "quick --device cpu --plugins writes_input_later --sizes 20 --json - "
      "--plugin-dir " +
      hostile_folder());
  INFO(ran.err);
  CHECK(ran.code == 1);
  for (const auto& cell : ran.json().at("cells")) {
    if (cell.at("problem").at("dtype") != "f32") continue;
    INFO(cell.dump(1));
    if (cell.at("variant") == "honest") {
      CHECK(cell.at("verdict") == "pass");
    } else {
      CHECK(cell.at("verdict") == "wrong");
      CHECK_THAT(cell.at("reason").get<std::string>(), ContainsSubstring("input A"));
      CHECK(cell.at("time").is_null());
    }
  }
}

TEST_CASE("a plugin for another device is unavailable, and that is no failure", "[cli]") {
  const auto ran = runner("quick --device cpu --sizes 8 --plugins naive,cublas --json -");
  if (ran.code == 2) return;  // built without CUDA: there is no cublas to speak of
  CHECK(ran.code == 0);
  const auto cells = ran.json().at("cells");
  CHECK(cells.back().at("verdict") == "unavailable");
  CHECK_THAT(cells.back().at("reason").get<std::string>(), ContainsSubstring("no cpu build"));
}

TEST_CASE("a loose library for another device gives way to the right one", "[cli]") {
  const auto cuda_build = plugin_folder("cuda") / "naive.so";
  if (!std::filesystem::exists(cuda_build)) return;  // built without CUDA: there is no other device
  const scratch_folder folder;
  std::filesystem::copy(cuda_build, folder.path() / "naive.so");
  std::filesystem::copy(cuda_build, folder.path() / "gpu_only.so");
  const auto ran = runner(
      "quick --device cpu --sizes 8 --plugins naive,gpu_only --json - "
      "--plugin-dir " +
      folder.path().string());
  INFO(ran.err);
  CHECK(ran.code == 0);
  for (const auto& cell : ran.json().at("cells")) {
    CHECK(cell.at("verdict") == (cell.at("plugin") == "naive" ? "pass" : "unavailable"));
  }
}
