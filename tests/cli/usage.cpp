// The command line itself: help, version and bad usage.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"

using kzoo::test::ContainsSubstring;
using kzoo::test::runner;

TEST_CASE("every command explains itself", "[cli]") {
  const auto top = runner("--help");
  CHECK(top.code == 0);
  for (const char* command : {"run", "rerun", "report", "compare", "check", "validate", "profile",
                              "list", "describe", "devices"}) {
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
  for (const char* words : {"run quick --devcie cpu", "run", "list --sizes 3", "describe",
                            "quick --sizes", "quick extra words", "report"}) {
    const auto bad = runner(words);
    INFO(words << "\n" << bad.err);
    CHECK(bad.code == 2);
    CHECK_THAT(bad.err, ContainsSubstring("error: "));
    CHECK_THAT(bad.err, ContainsSubstring("--help"));
    CHECK(bad.out.empty());
  }
}

TEST_CASE("a plugin may have the name of a command", "[cli]") {
  const auto ran = runner("quick --device cpu --plugins list");
  CHECK(ran.code == 2);
  CHECK_THAT(ran.err, ContainsSubstring("'list' names no plugin"));
}
