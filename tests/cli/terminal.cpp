// What reaches a terminal: no control characters of others, no line that wraps while it is
// rewritten, no escape sequences where they are not understood.
#include "support/terminal.hpp"
#include "support/catch.hpp"
#include "support/made_results.hpp"
#include "support/paths.hpp"
#include "support/process_log.hpp"
#include "support/program.hpp"

#include "storage/results_json.hpp"

#include <nlohmann/json.hpp>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

using namespace kzoo::test;

namespace {

namespace fs = std::filesystem;

// C0, with a colour that the runner uses itself, C1, line separators, a bidirectional override and
// a byte that is not UTF-8.
const std::string kHarmInUtf8 = "x\x1b[31m\x1b]0;t\r\x07\x7f\xc2\x9b\u2028\u2029\u202e";
const std::string kHarm = kHarmInUtf8 + "\xff";

void check_harmless(const std::string& text) {
  INFO(text);
  for (const char* bytes :
       {"\x1b", "\x07", "\x7f", "\xc2\x9b", "\u2028", "\u2029", "\u202e", "\xff"})
    CHECK_THAT(text, !ContainsSubstring(bytes));
}

}  // namespace

TEST_CASE("names from files never drive the terminal", "[cli]") {
  const scratch_folder folder;
  const std::string experiment =
      folder.write(kHarm + ".toml", "title = 'a\xc2\x9b\u202e'\nplugins = ['none']\n");
  folder.write(kHarm + ".so", "no library");
  kzoo::results::document d = made_document();
  const std::string text = "r" + kHarmInUtf8;
  d.cells.back().reason = d.device.name = d.host = d.experiment.title = text;
  d.notes.push_back(text);
  const std::string result =
      folder.write("r.json", kzoo::storage::dumped(kzoo::storage::to_json(d), 1));
  const std::string epilogue = folder.write("e.toml", R"(epilogue = "\u001b[31m\u2028X")");
  const std::string source = folder.write("t.cpp", "// kzoo: native\n// kzoo: tune BM=" + kHarm);
  const std::string tuned = folder.write("t.json", R"({"schema": "\u001b[31m\u2028X"})");
  const std::string there = " --plugin-dir '" + folder.path().string() + "'";
  for (const std::string& words :
       {"'" + experiment + "'" + there, "check '" + experiment + "'" + there, "list" + there,
        "describe '" + kHarm + "'" + there,
        "validate '" + folder.path().string() + "/" + kHarm + ".so'", "report " + result,
        "report --md " + result, "report --csv " + result, "report --json " + result,
        "report --junit " + result, "report --html - " + result, "compare " + result + " " + result,
        "check " + epilogue, "judge " + source, "tune --device cpu --sizes 8 " + source,
        "export " + tuned + " --out out", "report --csv '" + experiment + "'",
        "quick --device '" + kHarm + "'"}) {
    INFO(words);
    const auto ran = runner(words);
    CHECK((ran.out + ran.err).size() > 20);
    check_harmless(ran.out);
    check_harmless(ran.err);
  }
}

TEST_CASE("progress lines are no longer than the terminal is wide", "[cli]") {
  const auto shown = on_terminal(
      "quick --device cpu --sizes 8 --plugins serial --no-journal "
      ">/dev/null",
      30, "TERM=xterm");
  INFO(shown.out);
  CHECK(shown.code == 0);
  CHECK_THAT(shown.out, ContainsSubstring("[1/") && ContainsSubstring("\r\x1b[K"));
  CHECK(widest_line(shown.out) == 29);
}

// KZOO_UPDATE_DOCS=1 writes the files anew.
TEST_CASE("reports fit the terminal: 80, 100 and 160 columns, and a pipe", "[cli]") {
  const auto check = [](const std::string& name, const fs::path& result) {
    for (const int columns : {80, 100, 160, 0}) {
      const std::string words = "report " + shell_word(result);
      std::string shown = columns == 0 ? runner(words).out
                                       : on_terminal(words, columns, "TERM=xterm NO_COLOR=1").out;
      std::erase(shown, '\r');
      const fs::path file =
          source_folder() / "tests" / "fixtures" / "terminal" /
          (name + "-" + (columns == 0 ? "piped" : std::to_string(columns)) + ".txt");
      if (std::getenv("KZOO_UPDATE_DOCS") != nullptr) std::ofstream(file) << shown;
      INFO(file);
      CHECK(shown == read_text(file));
    }
  };
  check("ladder", source_folder() / "docs" / "results" / "h200-ladder.json");
  check("quick", source_folder() / "tests" / "fixtures" / "quick-cpu.json");
}

TEST_CASE("lists, rankings, checks and notes fit a terminal of 80 columns", "[cli]") {
  const std::string ladder = shell_word(source_folder() / "docs" / "results" / "h200-ladder.json");
  for (const std::string& words :
       {std::string("list"), std::string("describe pipelined"),
        "compare " + ladder + " --baseline cublas:fp32", "compare " + ladder + " " + ladder,
        std::string("validate naive:8x8 --device cpu --tier quick"), std::string("devices"),
        std::string("xray quick --cell naive:8x8 --sizes 32")}) {
    const auto shown = on_terminal(words, 80, "TERM=xterm NO_COLOR=1");
    INFO(words << "\n" << shown.out);
    CHECK(widest_line(shown.out) <= 80);
    CHECK(shown.out.size() > 100);
  }
}

TEST_CASE("times of the simulator are shown when they are asked for", "[cli]") {
  const std::string words =
      "report " + shell_word(source_folder() / "tests" / "fixtures" / "quick-cpu.json");
  CHECK(runner(words).out.find("ms*") == std::string::npos);
  CHECK_THAT(runner(words + " --simulator-times").out, ContainsSubstring("ms*"));
  const std::string wide = " --wide";
  CHECK(on_terminal(words + wide, 60, "TERM=xterm NO_COLOR=1").out.find("no room") ==
        std::string::npos);
}

TEST_CASE("kernels of the ladders stand first, in their order", "[cli]") {
  const std::string listed = runner("list").out;
  std::size_t before = 0;
  for (const char* name : {"\nnaive ", "\nsmem ", "\nfloat4 ", "\npipelined ", "\nwmma ",
                           "\nclusters ", "\ncoarsened ", "\nsplit_fp16 ", "\nserial "}) {
    INFO(name << " in\n" << listed);
    const std::size_t at = listed.find(name);
    REQUIRE(at != std::string::npos);
    CHECK(at > before);
    before = at;
  }
}

TEST_CASE("no escape sequence is written where none is understood", "[cli]") {
  for (const char* kind : {"TERM=dumb", "TERM=", "unset TERM;"}) {
    const auto ran =
        on_terminal("quick --device cpu --sizes 8 --plugins serial --no-journal", 80, kind);
    INFO(kind << "\n" << ran.out);
    CHECK(ran.code == 0);
    CHECK_THAT(ran.out, !ContainsSubstring("\x1b") && ContainsSubstring(" done"));
  }
  CHECK_THAT(on_terminal("list", 80, "TERM=xterm").out, ContainsSubstring("\x1b[2m"));
}

TEST_CASE("an interrupted problem is not called done", "[cli][hostile]") {
  const process_log hanging;
  const scratch_folder folder;
  background_run run({"quick", "--device", "cpu", "--sizes", "8", "--plugins",
                      "serial,launches:never_returns", "--plugin-dir", hostile_folder()},
                     folder.path());
  REQUIRE(hanging.wait_for_entry());
  run.send(SIGINT);
  const auto ended = run.wait();
  INFO(ended.out << ended.err);
  CHECK(ended.code == 130);
  CHECK_THAT(ended.err, !ContainsSubstring("done"));
}
