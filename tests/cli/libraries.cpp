// Libraries that are not plugins, or not for the device.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/verdicts.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

using namespace kzoo::test;

TEST_CASE("a plugin built for a later minor version of the ABI passes", "[cli]") {
  const scratch_folder folder;
  const auto file =
      folder.write("f32.toml", "plugins = ['later_abi']\n[problem]\nsizes = [8, 33]\n");
  const auto ran = run_hostile(file + " --device cpu --json -");
  INFO(ran.err);
  CHECK(ran.code == 0);
  const auto cells = ran.json().at("cells");
  CHECK(cells.size() == 4);
  for (const auto& cell : cells) CHECK(cell.at("verdict") == "pass");
}

TEST_CASE("libraries that are not plugins are unavailable, with the reason", "[cli][hostile]") {
  const scratch_folder folder;
  folder.write("notes.so", std::string(200, '#') + " a text file\n");
  folder.write("empty.so", "");
  const std::string where =
      " --plugin-dir " + shell_word(hostile_folder()) + " --plugin-dir " + folder.path().string();
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
  check_cell(cells.back(), "unavailable", {"no cpu build"});
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

TEST_CASE("a plugin that hides another of its name is said, and what libraries come with it",
          "[cli]") {
  const scratch_folder folder;
  std::filesystem::copy(plugin_folder("cpu") / "serial.so", folder.path() / "naive.so");
  const auto ran =
      runner("quick --device cpu --sizes 8 --plugins naive,openblas --json - --plugin-dir " +
             folder.path().string());
  INFO(ran.err);
  CHECK(ran.code == 0);
  const auto results = ran.json();
  CHECK_THAT(results.at("notes").dump(),
             ContainsSubstring((folder.path() / "naive.so").string() + " is used; ") &&
                 ContainsSubstring("cpu/naive.so, which has the same name, is not"));
  const auto& plugins = results.at("plugins");
  CHECK(plugins.at(0).at("id") == "serial");
  CHECK(plugins.at(0).at("libraries").empty());
  CHECK_THAT(plugins.at(1).at("libraries").dump(), ContainsSubstring("openblas"));
}

TEST_CASE("what is not a file is refused before it is opened", "[cli]") {
  const scratch_folder folder;
  namespace fs = std::filesystem;
  fs::create_directory(folder.path() / "folder.so");
  REQUIRE(mkfifo((folder.path() / "pipe.so").c_str(), 0600) == 0);
  fs::create_symlink("/dev/zero", folder.path() / "device.so");
  fs::create_symlink("/nowhere", folder.path() / "gone.so");
  fs::copy(plugin_folder("cpu") / "naive.so", folder.path() / "odd\xff.so");
  const std::map<std::string, std::string> reasons = {
      {"folder", "is a directory, not a library"},
      {"pipe", "is a named pipe, not a library"},
      {"device", "is a device or a socket, not a library"},
      {"gone", "there is no such file"},
      {"odd", "its name is not UTF-8"}};
  const std::string where = " --plugin-dir " + folder.path().string();
  const auto listed = runner("list" + where);
  for (const auto& [name, reason] : reasons) {
    CHECK_THAT(listed.out, ContainsSubstring(reason));
    const auto ran = runner("quick --device cpu --sizes 8 --plugins '" + name + "*'" + where);
    INFO(name << "\n" << ran.out << ran.err);
    CHECK(ran.code == 1);
    CHECK_THAT(ran.out, ContainsSubstring(reason));
  }
  for (const char* name : {"folder", "pipe", "device"}) {
    const auto refused = runner("validate " + (folder.path() / name).string() + ".so");
    CHECK(refused.code == 1);
    CHECK_THAT(refused.out, ContainsSubstring(reasons.at(name)));
  }
}

TEST_CASE("the length of an id is limited", "[cli][hostile]") {
  const auto ran = run_hostile("quick --device cpu --sizes 8 --plugins long_id");
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, ContainsSubstring("the id of variant 0 is not made of 1 to 100 letters") &&
                          ContainsSubstring("\"0123456789"));
}

TEST_CASE("a run in which no kernel could run is not called ok", "[cli][hostile]") {
  const auto ran = run_hostile("quick --device cpu --sizes 8 --plugins sizes:one_shape");
  INFO(ran.out);
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, ContainsSubstring("\nNOTHING RAN: 0 pass, ") && !ContainsSubstring("ok: "));
}

TEST_CASE("a precision must be known", "[cli][hostile]") {
  const auto ran = run_hostile("quick --device cpu --sizes 8 --plugins unknown_precision");
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, ContainsSubstring("variant 'x' declares the precision 99, which"));
}
