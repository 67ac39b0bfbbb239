// The command line itself: help, version and bad usage.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/verdicts.hpp"

#include <cstdlib>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>

using kzoo::test::check_refused;
using kzoo::test::ContainsSubstring;
using kzoo::test::runner;
using kzoo::test::runner_program;
using kzoo::test::scratch_folder;
using kzoo::test::shell_word;
using kzoo::test::source_folder;

TEST_CASE("every command explains itself", "[cli]") {
  const auto top = runner("--help");
  CHECK(top.code == 0);
  for (const char* command : {"run", "rerun", "report", "compare", "check", "validate", "profile",
                              "list", "describe", "devices", "needs"}) {
    CHECK_THAT(top.out, ContainsSubstring(command));
    const auto help = runner(std::string(command) + " --help");
    CHECK(help.code == 0);
    CHECK_THAT(help.out, ContainsSubstring("Usage:"));
  }
  CHECK_THAT(top.out, ContainsSubstring("Exit codes: 0"));
}

TEST_CASE("run's help names its options", "[cli]") {
  const auto help = runner("run --help");
  for (const char* option :
       {"--device", "--plugins", "--sizes", "--verify", "--plugin-dir", "--json", "--in-process",
        "--quiet", "--help", "--csv", "--md", "--journal", "--no-journal", "--resume"}) {
    CHECK_THAT(help.out, ContainsSubstring(option));
  }
}

TEST_CASE("a command's help tells its own exit codes and devices", "[cli]") {
  for (const char* command : {"check", "compare", "describe", "devices", "list", "new", "report"}) {
    const auto help = runner(std::string(command) + " --help");
    INFO(command);
    CHECK_THAT(help.out,
               ContainsSubstring("Exit codes: 0") && !ContainsSubstring("some cell passed"));
  }
  for (const char* command : {"run", "rerun", "merge"})
    CHECK_THAT(runner(std::string(command) + " --help").out, ContainsSubstring("some cell passed"));
  CHECK_THAT(runner("run --help").out, ContainsSubstring("DATE_EXPERIMENT_DEVICE.jsonl"));
  CHECK_THAT(runner("profile --help").out, !ContainsSubstring("cpu") && !ContainsSubstring(":all"));
  CHECK_THAT(runner("xray --help").out, !ContainsSubstring("cuda"));
}

TEST_CASE("the version is one line", "[cli]") {
  const auto version = runner("--version");
  CHECK(version.code == 0);
  CHECK(version.out == "kernel-zoo " + kzoo::test::version() + "\n");
}

TEST_CASE("without arguments the program shows its help and fails", "[cli]") {
  const auto nothing = runner("");
  CHECK(nothing.code == 2);
  CHECK_THAT(nothing.out, ContainsSubstring("Usage:"));
}

TEST_CASE("bad usage is refused with the way out", "[cli]") {
  const auto words = GENERATE(as<std::string>{}, "run quick --devcie cpu", "run", "list --sizes 3",
                              "describe", "quick --sizes", "quick extra words", "report");
  check_refused(words, {"error: ", "--help"});
}

TEST_CASE("an option that there is not is told before a file that is missing", "[cli]") {
  CHECK_THAT(runner("run --bogus").err, ContainsSubstring("--bogus"));
  CHECK_THAT(runner("run --quiet").err, ContainsSubstring("FILE is required"));
}

TEST_CASE("what a shell completes is what there is", "[cli]") {
  const scratch_folder folder;
  const std::string there = in(folder);
  const auto offered = [&](const std::string& line) {
    std::istringstream out(runner("--complete '" + line + "'", there).out);
    std::set<std::string> words;
    for (std::string word; std::getline(out, word);) words.insert(word);
    return words;
  };
  using set = std::set<std::string>;
  // The options are those that each command has, by its help.
  const std::regex option(R"(\n +(?:-h,)?(--[a-z-]+))");
  for (const std::string command : {"run", "report", "compare", "validate", "xray", "new"}) {
    const std::string help = runner(command + " --help").out;
    set options;
    for (std::sregex_iterator at(help.begin(), help.end(), option), end; at != end; ++at)
      options.insert((*at)[1]);
    INFO(command);
    CHECK(options.size() > 1);
    CHECK(offered("runner " + command + " --") == options);
  }
  CHECK(offered("runner desc") == set{"describe"});
  CHECK(offered("runner quic") == set{"quick", "quick-all"});
  CHECK(offered("/usr/bin/runner quick --plugins serial,naiv") == set{"serial,naive"});
  CHECK(offered("runner validate naive:") == set{"naive:8x8", "naive:16x16", "naive:32x32"});
  CHECK(offered("runner run quick --device=cp") == set{"--device=cpu"});
  CHECK(offered("runner quick --device ") == set{"auto", "cpu", "cuda", "cuda:0", "cuda:all"});
  CHECK(offered("runner profile quick --device ") == set{"auto", "cuda", "cuda:0"});
  CHECK(offered("runner quick --layouts nn,t") == set{"nn,tn", "nn,tt"});
  CHECK(offered("runner quick --sort ") == set{"name", "speedup", "time"});
  CHECK(offered("runner quick --verify ") == set{"full", "paranoid", "quick"});
  folder.write("mine.cu", "");
  folder.write("r.json", "");
  std::filesystem::create_directory(folder.path() / "results");
  folder.write("results/1.jsonl", "");
  CHECK(offered("runner quick --plugins naive,./m") == set{"naive,./mine.cu"});
  CHECK(offered("runner describe min") == set{"mine.cu"});
  CHECK(offered("runner compare a.json r") == set{"r.json", "results/", "results/1.jsonl"});
  CHECK(offered("runner compare a.json b.json ").empty());
  CHECK(offered("runner quick --json r").empty());  // any file, which the shell knows
  CHECK(offered("runner validate nothing:").empty());

  // bash takes what is before a colon from the reply.
  const std::string script = shell_word(source_folder() / "scripts" / "completion" / "runner.bash");
  const std::string ask =
      folder.write("ask", "source " + script + "\nprogram=" + shell_word(runner_program()) +
                              "\ntyped=${program// /\\\\ }\nCOMP_LINE=\"$typed validate naive:8\"\n"
                              "COMP_POINT=${#COMP_LINE}\nCOMP_WORDS=(\"$typed\")\n_runner\n"
                              "echo \"${COMPREPLY[*]}\" > " +
                              (folder.path() / "reply").string() + "\n");
  REQUIRE(std::system(("bash " + ask).c_str()) == 0);
  CHECK(kzoo::test::read_text(folder.path() / "reply") == "8x8\n");
}

TEST_CASE("a plugin may have the name of a command", "[cli]") {
  check_refused("quick --device cpu --plugins list", {"'list' names no plugin"});
}
