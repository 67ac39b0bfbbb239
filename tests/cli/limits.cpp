// Limits of the system, and values that no run can take: each is answered with a sentence and an
// exit code that the README names.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"
#include "support/verdicts.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

using namespace kzoo::test;

namespace fs = std::filesystem;

namespace {

// A folder in which the same plugin lies under `count` names.
void add_plugins(const scratch_folder& folder, int count) {
  for (int i = 0; i < count; ++i) {
    fs::create_symlink(plugin_folder("cpu") / "serial.so",
                       folder.path() / ("many" + std::to_string(i) + ".so"));
  }
}

constexpr const char* kOneSize =
    "plugins = ['many*:ikj']\n[problem]\nsizes = [4]\n[timing]\nenabled = false\n";

}  // namespace

TEST_CASE("three hundred plugins run where 1024 files may be open", "[cli]") {
  const scratch_folder folder;
  add_plugins(folder, 300);
  const auto file = folder.write("many.toml", kOneSize);
  const auto ran = runner(file + " --device cpu --quiet --plugin-dir " + folder.path().string(),
                          "ulimit -Sn 1024;");
  INFO(ran.out << ran.err);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, ContainsSubstring("ok: 300 pass"));
}

TEST_CASE("more plugins than files may be open are refused before anything runs", "[cli]") {
  const scratch_folder folder;
  add_plugins(folder, 100);
  const auto file = folder.write("many.toml", kOneSize);
  check_refused(file + " --device cpu --plugin-dir " + folder.path().string(),
                {"error: 100 plugins need 648 open files, and this system allows 300"},
                "ulimit -n 300;");
  for (const char* words : {"list", "quick --device cpu", "report nothing.json"}) {
    check_refused(words, {"error: this system allows 12 open files"}, "prlimit --nofile=12");
  }
}

TEST_CASE("without a place for temporary files a run says so", "[cli]") {
  const auto place = GENERATE(as<std::string>{}, "/nowhere", "/proc");
  const auto ran =
      runner("quick --device cpu --sizes 8 --plugins serial --no-journal", "TMPDIR=" + place);
  INFO(ran.out << ran.err);
  CHECK(ran.code == 5);
  CHECK_THAT(ran.err, ContainsSubstring("temporary files cannot be made in " + place) &&
                          ContainsSubstring("set TMPDIR to a folder where you may write"));
}

TEST_CASE("without HOME a run works, and peaks have no place", "[cli]") {
  const std::string nowhere = "unset HOME XDG_CACHE_HOME KZOO_PEAKS;";
  const scratch_folder folder;
  const auto ran = runner("quick --device cpu --sizes 8 --plugins serial --no-journal",
                          nowhere + " cd " + folder.path().string() + ";");
  CHECK(ran.code == 0);
  const auto devices = runner("devices --device cpu", nowhere);
  CHECK(devices.code == 0);
  CHECK_THAT(devices.out, ContainsSubstring("not measured"));
  check_refused("devices --measure --device cpu", {"HOME is not set; name a folder in KZOO_PEAKS"},
                nowhere + " cd " + folder.path().string() + ";");
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("an experiment with a long file name runs and is stored", "[cli]") {
  const scratch_folder folder;
  const std::string name(240, 'n');
  const auto file =
      folder.write(name + ".toml", "plugins = ['serial:ikj']\n[problem]\nsizes = [8]\n");
  const auto out = (folder.path() / (std::string(240, 'o') + ".json")).string();
  const auto ran = runner(file + " --device cpu --json " + out);
  INFO(ran.out << ran.err);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, ContainsSubstring("stored in results/"));
  CHECK(fs::file_size(out) > 1000);
  check_refused(std::string(300, 'm'), {"there is no such experiment file"});
  const auto unwritable =
      runner(file + " --device cpu --no-journal --json " + std::string(300, 'x'));
  INFO(unwritable.err);
  CHECK(unwritable.code != 0);
  CHECK_THAT(unwritable.err, ContainsSubstring("File name too long"));
}

TEST_CASE("options may come before the file, but not before a command", "[cli]") {
  CHECK(runner("--device cpu --sizes 8 --plugins serial quick").code == 0);
  CHECK(runner("run --device cpu --sizes 8 --plugins serial quick").code == 0);
  const auto refused = runner("--device cpu check quick");
  INFO(refused.err);
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, ContainsSubstring("error: the command comes first") &&
                              ContainsSubstring("runner check --device"));
}

TEST_CASE("a timeout that is no time is refused", "[cli]") {
  const auto seconds =
      GENERATE(as<std::string>{}, "nan", "0", "-1", "1e18", "inf", "86401", "soon", "''");
  check_refused("validate serial --device cpu --timeout " + seconds, {"error: ", "--timeout"});
}

TEST_CASE("a plugin of the tree that is not built is said so, with the way out", "[cli]") {
  const scratch_folder folder;
  folder.write("names.txt", "ghost cpu cuda\nnever\n");
  const std::string there = " --plugin-dir " + folder.path().string();
  const auto listed = runner("list" + there);
  INFO(listed.out);
  CHECK(listed.code == 0);
  const auto line_of = [&](const std::string& name) {
    const auto at = listed.out.find("\n" + name + " ");
    REQUIRE(at != std::string::npos);
    return listed.out.substr(at + 1, listed.out.find('\n', at + 1) - at - 1);
  };
  CHECK_THAT(line_of("ghost"),
             ContainsSubstring("not built") && ContainsSubstring("./zoo build ghost"));
  CHECK_THAT(line_of("never"),
             ContainsSubstring("not built") && ContainsSubstring("cannot be built here"));
  const auto ran = runner("quick --device cpu --sizes 8 --plugins ghost,serial" + there);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, ContainsSubstring(
                          "unavailable ghost: is not built for cpu: ./zoo build ghost builds it"));
  CHECK_THAT(runner("quick --device cpu --sizes 8 --plugins never" + there).out,
             ContainsSubstring("unavailable never: there is no cpu build of it here"));
  check_refused("describe ghost" + there, {"./zoo build ghost"});
}
