// Libraries that are not plugins, or not for the device.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

using namespace kzoo::test;

TEST_CASE("libraries that are not plugins are unavailable, with the reason", "[cli][hostile]") {
  const scratch_folder folder;
  folder.write("notes.so", std::string(200, '#') + " a text file\n");
  folder.write("empty.so", "");
  const std::string where =
      " --plugin-dir " + hostile_folder() + " --plugin-dir " + folder.path().string();
  CHECK_THAT(runner("list" + where).out, ContainsSubstring("unavailable"));
  const std::map<std::string, std::vector<const char*>> reasons = {
      {"notes", {"notes.so", "cannot be loaded", "invalid ELF header"}},
      {"empty", {"empty.so", "cannot be loaded", "file too short"}},
      {"no_symbol", {"no symbol kzoo_plugin_v1"}},
      {"abi_v2", {"version 2", "speaks version 1", "build it again"}},
  };
  for (const auto& [plugin, words] : reasons) {
    const auto ran = runner(
        fmt::format("quick --device cpu --sizes 8 --json - --plugins {},naive{}", plugin, where));
    INFO(plugin << "\n" << ran.err);
    CHECK(ran.code == 1);
    const auto cells = ran.json().at("cells");
    REQUIRE(cells.size() == 12);
    CHECK(cells[0].at("verdict") == "unavailable");
    CHECK(cells[1].at("verdict") == "pass");
    const auto reason = cells[0].at("reason").get<std::string>();
    INFO(reason);
    for (const char* word : words) CHECK_THAT(reason, ContainsSubstring(word));
    CHECK(runner("describe " + plugin + where).code == 1);
  }
}

TEST_CASE("a plugin for another device is unavailable, and that is no failure", "[cli]") {
  const scratch_folder folder;
  std::filesystem::create_directory(folder.path() / "cuda");
  std::filesystem::copy(hostile_plugin("cpu", "other_device"), folder.path() / "cuda/gpu_only.so");
  const auto ran =
      runner("quick --device cpu --sizes 8 --plugins naive,gpu_only --json - --plugin-dir " +
             folder.path().string());
  INFO(ran.err);
  CHECK(ran.code == 0);
  const auto cells = ran.json().at("cells");
  CHECK(cells.back().at("verdict") == "unavailable");
  CHECK_THAT(cells.back().at("reason").get<std::string>(), ContainsSubstring("no cpu build"));
}

TEST_CASE("a library for another device is skipped in favour of the right one", "[cli]") {
  const scratch_folder folder;
  for (const char* name : {"naive.so", "gpu_only.so"})
    std::filesystem::copy(hostile_plugin("cpu", "other_device"), folder.path() / name);
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
