// What a plugin may do to the others, to the device and to the machine.
#include "devices/devices.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"
#include "support/verdicts.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <utility>

using namespace kzoo::test;

TEST_CASE("a worker writes no core, and what it prints is kept up to a limit", "[cli][hostile]") {
  const scratch_folder folder;
  const auto ran = run_plugins(folder, "'native:has_no_core', 'native:prints_without_end'", "8",
                               "enabled = false", "cpu");
  INFO(ran.err);
  CHECK(ran.code == 0);
  for (const auto& cell : ran.json().at("cells")) CHECK(cell.at("verdict") == "pass");
}

TEST_CASE("a library that computes for a plugin is named, unless the plugin's name has it",
          "[cli][hostile]") {
  const scratch_folder folder;
  std::filesystem::copy_file(hostile_folder() + "/cpu/links_library.so",
                             folder.path() / "our_cublas.so");
  const std::string says = ":plain: calls cublas";
  const auto ran =
      run_plugins(folder, "'links_library', 'loads_library', './our_cublas.so', 'native:honest'",
                  "24", "rounds = 3", "cpu");
  INFO(ran.err);
  CHECK(ran.code == 0);
  for (const auto& cell : ran.json().at("cells")) {
    INFO(cell.dump(1));
    CHECK(cell.at("verdict") == "pass");
    const auto plugin = cell.at("plugin").get<std::string>();
    const bool is_told = plugin == "links_library" || plugin == "loads_library";
    REQUIRE(cell.at("checks").size() == (is_told ? 1 : 0));
    if (is_told) CHECK(cell.at("checks").at(0).at("check") == "library");
  }
  CHECK_THAT(ran.err, ContainsSubstring("library links_library" + says) &&
                          ContainsSubstring("library loads_library" + says));
  // In a table of several problems, and by validate, too.
  const auto several = run_hostile("quick --device cpu --sizes 8 --plugins loads_library");
  CHECK_THAT(several.out, ContainsSubstring("library loads_library" + says));
  CHECK_THAT(run_hostile("validate links_library --device cpu").out,
             ContainsSubstring("library") && ContainsSubstring("calls cublas"));
}

// Each in turn with the others beside it, so often that a verdict that depends on chance is seen.
TEST_CASE("correct kernels are never blamed for a saboteur, a stopper and a crasher",
          "[cli][hostile][.ladder]") {
  constexpr int kRuns = 200;
  const scratch_folder folder;
  const std::map<std::string, std::string> expected{
      {"serial:ikj", "pass"},           {"native:spoils_others", "pass"},
      {"native:is_spoilt", "pass"},     {"naive:16x16", "pass"},
      {"process:stops_itself", "hung"}, {"native:honest", "pass"},
      {"launches:segfault", "crashed"}, {"smem:16x16", "pass"}};
  std::string plugins;
  for (const auto& [kernel, verdict] : expected)
    plugins += fmt::format("{}'{}'", plugins.empty() ? "" : ", ", kernel);
  for (int i = 0; i < kRuns; ++i) {
    const auto ran =
        run_plugins(folder, plugins, "20", "rounds = 3\nmin_samples = 3\nmax_seconds = 0.1", "cpu");
    INFO(i << "\n" << ran.err);
    const auto results = ran.json();
    REQUIRE(results.at("cells").size() == expected.size());
    for (const auto& cell : results.at("cells")) {
      INFO(cell.dump(1));
      const auto kernel =
          cell.at("plugin").get<std::string>() + ":" + cell.at("variant").get<std::string>();
      REQUIRE(cell.at("verdict") == expected.at(kernel));
    }
  }
}

TEST_CASE("one that keeps the GPU busy between its turns is to blame, not its rivals",
          "[cli][hostile][.gpu]") {
  needs_gpu();
  const scratch_folder folder;
  const auto ran = run_plugins(
      folder, "'naive:16x16', 'cublas:fp32', 'smem:16x16', 'cuda_runtime:works_between_turns'",
      "1024", "rounds = 20", "cuda");
  INFO(ran.err);
  CHECK(ran.code == 1);
  for (const auto& cell : ran.json().at("cells")) {
    INFO(cell.dump(1));
    const bool guilty = cell.at("variant") == "works_between_turns";
    CHECK(cell.at("verdict") == (guilty ? "wrong" : "pass"));
    if (guilty)
      CHECK_THAT(cell.at("reason").get<std::string>(),
                 ContainsSubstring("keeps the GPU busy after its turn"));
  }
}

TEST_CASE("of several GPUs a worker sees its own alone", "[cli][hostile][.two_gpus]") {
  needs_gpu();
  const std::size_t gpus = kzoo::devices::list().size() - 1;
  if (gpus < 2) skip("there is one GPU");
  const std::string run = "quick --sizes 64 --json - --plugins cuda_runtime:sees_one_gpu --device ";
  for (const auto& [device, setting] : {std::pair{"cuda:0", ""},
                                        {"cuda:1", ""},
                                        {"cuda:1", "CUDA_VISIBLE_DEVICES=1,0"},
                                        {"cuda:0", "KZOO_UNHIDE_GPUS=1"}}) {
    const auto ran = run_hostile(run + device, setting);
    INFO(device << " " << setting << "\n" << ran.err);
    CHECK(ran.code == 0);
    for (const auto& cell : ran.json().at("cells")) {
      CHECK(cell.at("verdict") == "pass");
      CHECK(cell.at("device") == device);
    }
  }
}

TEST_CASE("one that takes all memory of a GPU leaves enough to its rivals",
          "[cli][hostile][.gpu]") {
  needs_gpu();
  const scratch_folder folder;
  const auto ran =
      run_plugins(folder, "'cuda_runtime:takes_all_memory', 'naive:16x16', 'cublas:fp32'",
                  "256, 512", "rounds = 3", "cuda");
  INFO(ran.err);
  CHECK(ran.code == 1);
  for (const auto& cell : ran.json().at("cells")) {
    INFO(cell.dump(1));
    const bool guilty = cell.at("variant") == "takes_all_memory";
    CHECK((cell.at("verdict") == "pass") == !guilty);
  }
}

TEST_CASE("lines that persist in the L2 are no advantage, and changed limits are said",
          "[cli][hostile][.gpu]") {
  needs_gpu();
  const scratch_folder folder;
  const auto ran = run_plugins(folder,
                               "'cuda_runtime:honest', 'cuda_runtime:persists_by_window', "
                               "'cuda_runtime:plain_loads', 'cuda_runtime:persists_by_loads'",
                               "1024, 2048, '16x2048x2048'", "rounds = 10", "cuda");
  INFO(ran.err);
  CHECK(ran.code == 0);
  const auto results = ran.json();
  std::map<std::string, std::map<std::string, double>> ms;  // by problem and variant
  for (const auto& cell : results.at("cells")) {
    const auto variant = cell.at("variant").get<std::string>();
    ms[cell.at("problem").at("name").get<std::string>()][variant] =
        cell.at("time").at("median_ms").get<double>();
    if (variant == "persists_by_window")
      CHECK_THAT(cell.at("checks").dump(),
                 ContainsSubstring("cudaLimitPersistingL2CacheSize from "));
  }
  REQUIRE(ms.size() == 3);
  for (auto& [problem, by] : ms) {
    constexpr double kNoise = 0.02;
    fmt::print(stderr,
               "{}: window {:.4g} ms, without {:.4g} ms; loads {:.4g} ms, without {:.4g} ms\n",
               problem, by.at("persists_by_window"), by.at("honest"), by.at("persists_by_loads"),
               by.at("plain_loads"));
    CHECK(by.at("persists_by_window") > (1 - kNoise) * by.at("honest"));
    CHECK(by.at("persists_by_loads") > (1 - kNoise) * by.at("plain_loads"));
  }
}

TEST_CASE("a kernel that is slower by 5 % is found by compare", "[cli][hostile][.gpu]") {
  needs_gpu();
  constexpr int kPairs = 5;
  const scratch_folder folder;
  const auto file = folder.write(
      "slower.toml", "plugins = ['cuda_runtime:slowed']\n[problem]\nsizes = [1024, 2048]\n");
  const auto run = [&](const std::string& name, const std::string& percent) {
    const auto out = (folder.path() / name).string();
    const auto ran = run_hostile(fmt::format("{} --device cuda --json {} --no-journal", file, out),
                                 "KZOO_SLOWER_BY=" + percent);
    INFO(ran.err);
    CHECK(ran.code == 0);
    return out;
  };
  for (int i = 0; i < kPairs; ++i) {
    const auto before = run("before.json", "0"), after = run("after.json", "5");
    const auto compared = runner("compare " + before + " " + after);
    INFO(compared.out << compared.err);
    CHECK(compared.code == 4);
    CHECK_THAT(compared.out, ContainsSubstring("2 slower"));
  }
}
