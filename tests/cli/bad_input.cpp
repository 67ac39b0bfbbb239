// Bad input: each case gets a clear error that names the place and the way out, and exit code 2
// or 3.
#include "support/catch.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"
#include "support/verdicts.hpp"

#include <filesystem>
#include <vector>

using kzoo::test::check_refused;
using kzoo::test::ContainsSubstring;
using kzoo::test::runner;
using kzoo::test::scratch_folder;

namespace {

// Runs an experiment with this text; expects exit code 2 and nothing on stdout.
void refuses(const std::string& text, const std::vector<std::string>& words,
             const std::string& options = "") {
  const scratch_folder folder;
  const auto file = folder.write("bad.toml", text);
  INFO(text);
  check_refused(file + " --device cpu " + options, words);
}

}  // namespace

TEST_CASE("a bad experiment file is refused with line and column", "[cli]") {
  refuses("pluginz = ['naive']\n", {"bad.toml:1:1: error", "pluginz", "plugins"});
  refuses("[problem]\nsizes = [16]\nalfa = 2\n", {"bad.toml:3:1: error", "alfa", "alpha"});
  refuses("plugins = 7\n", {"bad.toml:1:11: error", "7"});
  refuses("plugins = []\n", {"bad.toml:1:11: error", "empty"});
  refuses("[problem\nsizes = [16]\n", {"bad.toml:1:", "error"});
  for (const char* size : {"0", "-1", "1000000000"}) {
    refuses(std::string("[problem]\nsizes = [16, ") + size + "]\n",
            {"bad.toml:2:14: error", size, "1048576"});
  }
}

TEST_CASE("a misspelt plugin or variant gets the nearest name", "[cli]") {
  refuses("plugins = ['naiv']\n", {"bad.toml:1:12: error", "'naiv'", "did you mean 'naive'"});
  refuses("plugins = ['naive:8x9']\n", {"bad.toml:1:12: error", "8x9", "8x8", "16x16"});
  refuses("", {"--plugins", "'zmem'", "did you mean 'smem'"}, "--plugins zmem");
}

TEST_CASE("a problem that does not fit in memory is refused with the sum", "[cli]") {
  refuses("plugins = ['serial']\n[problem]\nsizes = [1000000]\n",
          {"bad.toml:2:1: error", "does not fit", "GB"});
  refuses("plugins = ['serial']\n[problem]\nsizes = [4096]\nbatch = 65536\n",
          {"bad.toml:2:1: error", "4096x4096x4096 f32 batch=65536 does not fit", "GB"});
}

TEST_CASE("an experiment that demands locked clocks is refused where there are none", "[cli]") {
  const scratch_folder folder;
  const std::string text =
      "plugins = ['serial:ijk']\n[problem]\nsizes = [8]\n[timing]\nrequire_locked_clocks = true\n";
  const auto timed = runner(folder.write("timed.toml", text) + " --device cpu");
  CHECK(timed.code == 3);
  CHECK_THAT(timed.err, ContainsSubstring("require_locked_clocks = true: the clocks of cpu: ") &&
                            ContainsSubstring("the device is not a GPU") &&
                            ContainsSubstring("name one with --device"));
  CHECK(timed.out.empty());
  const auto judged = runner(folder.write("judged.toml", text + "enabled = false\n") +
                             " --device cpu --no-journal --json -");
  CHECK(judged.code == 0);
  CHECK_THAT(judged.out, ContainsSubstring("\"require_locked_clocks\":true"));
}

TEST_CASE("a missing experiment file is reported with similar names", "[cli]") {
  check_refused("experiments/a1000.toml", {"experiments/a1000.toml", "a100.toml"});
  CHECK(runner("/tmp").code == 2);
}

TEST_CASE("bad sizes on the command line name the flag", "[cli]") {
  const auto sizes =
      GENERATE(as<std::string>{}, "0", "-1", "12x", "1x2", "1e3", "99999999999999999999");
  check_refused("quick --device cpu --sizes=" + sizes, {"--sizes"});
}

TEST_CASE("a bad number of simulator threads is reported", "[cli]") {
  const auto threads = GENERATE(as<std::string>{}, "abc", "0", "257", "");
  const auto ran = runner("quick --device cpu --sizes 8 --plugins naive:8x8",
                          "KZOO_SIM_THREADS='" + threads + "'");
  INFO(threads << "\n" << ran.out);
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, ContainsSubstring("KZOO_SIM_THREADS is '") &&
                          ContainsSubstring("not a number from 1 to 256"));
}

TEST_CASE("a bad device name is bad usage", "[cli]") {
  const auto ran = runner("quick --device gpu");
  CHECK(ran.code == 2);
  CHECK_THAT(ran.err, ContainsSubstring("--device"));
  CHECK_THAT(ran.err, ContainsSubstring("cuda"));
}

TEST_CASE("a missing device has its own exit code", "[cli]") {
  const auto ran = runner("experiments/a100.toml --device cuda:63");
  INFO(ran.err);
  CHECK(ran.code == 3);
  CHECK(ran.out.empty());
  CHECK_THAT(ran.err, ContainsSubstring("error: "));
}

TEST_CASE("without a GPU, --device cuda says why and what to do", "[cli]") {
  const auto ran = runner("experiments/a100.toml --device cuda", kzoo::test::kNoGpu);
  CHECK(ran.code == 3);
  CHECK_THAT(ran.err, ContainsSubstring("--device cpu"));
}

TEST_CASE("JSON that cannot be written is refused before anything runs", "[cli]") {
  check_refused("quick --device cpu --json /no/such/folder/x.json", {"/no/such/folder/x.json"});
}

TEST_CASE("results never replace the experiment, nor an older file before they are complete",
          "[cli]") {
  const scratch_folder folder;
  const std::string text = "plugins = ['serial:ikj']\n[problem]\nsizes = [8]\n";
  const auto file = folder.write("e.toml", text);
  CHECK(runner(file + " --device cpu --json " + file).code == 2);
  CHECK(std::filesystem::file_size(file) == text.size());

  const auto old = folder.write("old.json", "precious");
  CHECK(runner("nothing.toml --json " + old).code == 2);
  CHECK(std::filesystem::file_size(old) == 8);
  CHECK(runner(file + " --device cpu --json " + old).code == 0);
  CHECK(std::filesystem::file_size(old) > 1000);
  // No temporary file is left.
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 2);
}

TEST_CASE("a missing plugin folder is refused", "[cli]") {
  const auto ran = runner("list --plugin-dir /no/such/folder");
  CHECK(ran.code == 2);
  CHECK_THAT(ran.err, ContainsSubstring("/no/such/folder"));
}

TEST_CASE("describe refuses an unknown plugin and names the nearest", "[cli]") {
  check_refused("describe naif", {"naive"});
}

TEST_CASE("a misspelt variant of the baseline is refused with the nearest name", "[cli]") {
  const std::vector<std::string> words{"bad.toml:1:12: error", "'smem:8x9' names no variant",
                                       "did you mean '8x8'", "16x16"};
  refuses("baseline = 'smem:8x9'\nplugins = ['smem']\n[problem]\nsizes = [8]\n", words);
  refuses("baseline = 'smem:8x9'\nplugins = ['serial']\n[problem]\nsizes = [8]\n", words);
}

TEST_CASE("a baseline that names no plugin is refused, one that does not run gets a note",
          "[cli]") {
  refuses("baseline = 'nosuch'\n[problem]\nsizes = [8]\n", {"bad.toml:1:12: error", "nosuch"});
  const auto ran = runner("experiments/a100.toml --device cpu --sizes 8 --plugins serial");
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, ContainsSubstring("no comparison with the baseline cublas:fp32"));
}
