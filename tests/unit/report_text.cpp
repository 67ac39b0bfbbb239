#include "os/output.hpp"
#include "os/text.hpp"
#include "report/page.hpp"
#include "report/problem_table.hpp"
#include "report/report.hpp"
#include "report/terminal.hpp"
#include "support/catch.hpp"
#include "support/made_results.hpp"
#include "support/text.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

using namespace kzoo::report;
using kzoo::number_text;
using kzoo::time_text;
using kzoo::test::count_of;

TEST_CASE("numbers have three digits", "[report]") {
  CHECK(number_text(0) == "0");
  CHECK(number_text(0.19749) == "0.197");
  CHECK(number_text(9.994) == "9.99");
  CHECK(number_text(9.999) == "10.0");
  CHECK(number_text(99.96) == "100");
  CHECK(number_text(51400.4) == "51400");
  CHECK(number_text(-1.5) == "-1.50");
  CHECK(number_text(1.0 / 0.0) == "-");
}

TEST_CASE("times choose their unit", "[report]") {
  CHECK(time_text(0.0636) == "63.6 us");
  CHECK(time_text(0.9994) == "999 us");
  CHECK(time_text(0.9996) == "1.00 ms");
  CHECK(time_text(4.42) == "4.42 ms");
  CHECK(time_text(999.6) == "1.00 s");
  CHECK(time_text(3770) == "3.77 s");
}

TEST_CASE("`validate` says a failure once, and refers to it from other checks", "[report]") {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::tmpfile(), &std::fclose);
  validation_text shown(out.get());
  const auto starts = [&](const char* kernel) {
    shown.starts({kernel, {KZOO_F32, KZOO_F32, KZOO_F32}, KZOO_COMPUTE_FP32, "", {}});
  };
  using kzoo::results::outcome;
  starts("bad:1");
  shown.found({"exact integers", outcome::crashed, "3x2x1 f32: SIGILL, a trap", {}});
  shown.found({"seeds", outcome::crashed, "9x9x9 f32 seed=2: SIGILL, a trap", {}});
  shown.found({"repeats", outcome::crashed, "SIGILL: a trap", {}});
  starts("bad:2");
  shown.found({"repeats", outcome::crashed, "SIGILL, a trap", {}});
  std::string text(1000, '\0');
  std::rewind(out.get());
  text.resize(std::fread(text.data(), 1, text.size(), out.get()));
  CHECK(count_of(text, "SIGILL, a trap") == 1);
  CHECK(count_of(text, "seeds            9x9x9 f32 seed=2: as in \"exact integers\"\n") == 1);
  CHECK(count_of(text, "repeats          SIGILL: a trap\n") == 1);
  CHECK(count_of(text, "repeats          as in \"bad:1 f32, exact integers\"\n") == 1);
}

TEST_CASE("width counts characters", "[report]") {
  CHECK(width("error/√K") == 8);
  CHECK(width("") == 0);
}

TEST_CASE("a table aligns, leaves empty columns out and knows titles of several lines",
          "[report]") {
  table t;
  t.add_column("name", table::align::left);
  t.add_column("never");
  t.add_column("long\ntime");
  t.add_row({{"a"}, {}, {"1"}});
  t.add_row({{"longer"}, {}, {"12345"}});
  CHECK(t.str(false, "") ==
        "         long\n"
        "name     time\n"
        "a           1\n"
        "longer  12345\n");
}

TEST_CASE("colour does not change the layout", "[report]") {
  table t;
  t.add_column("x");
  t.add_row({{"ab", style::good}});
  CHECK(kzoo::safe_text(t.str(true, "")) == " \x1b[2mx\x1b[0m\n\x1b[32mab\x1b[0m\n");
}

TEST_CASE("text from a plugin cannot drive the terminal", "[report]") {
  CHECK(kzoo::printable("a\x1b[31mb\nc\td\x7f") == "a\\x1b[31mb c d\\x7f");
  CHECK(kzoo::printable("Grüße √") == "Grüße √");
  CHECK(kzoo::printable_lines("\n\na\x1b[31mb\r\n  c\td\n\ne \n") == "a\\x1b[31mb\n  c d\n\ne");
  CHECK(kzoo::printable_lines("").empty());
  CHECK(kzoo::printable_lines(std::string(5000, 'x'), 100).size() == 100);
  CHECK(kzoo::first_line("a b\nc") == "a b");
  CHECK(kzoo::printable(std::string(5000, 'x'), kzoo::kLongestText).size() == kzoo::kLongestText);
  CHECK(kzoo::printable("ab√√", 4) == "ab");  // not half of a character
  CHECK(kzoo::printable("\xc2\x9b"
                        "31m\xc2\x85") == "\\u009b31m\\u0085");  // C1
  CHECK(kzoo::printable("a\u202eb\u2066c\u200fd\u061ce\u2028") ==
        "a\\u202eb\\u2066c\\u200fd\\u061ce\\u2028");
  CHECK(kzoo::printable("\ufffe\uffff\ufffd") == "\\ufffe\\uffff\ufffd");  // XML has no such
  // Not UTF-8: alone, cut off, too long a form, half a pair of UTF-16, beyond Unicode.
  CHECK(kzoo::printable("\x9b \xe2\x88 \xc0\x9b \xed\xa0\x80 \xf4\x90\x80\x80") ==
        "\\x9b \\xe2\\x88 \\xc0\\x9b \\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80");
}

TEST_CASE("no part of a report lets a name drive the terminal", "[report]") {
  const std::string name = "a\x1b[2J\xc2\x9b\u202e\xff\nb";
  const std::string safe = "a\\x1b[2J\\u009b\\u202e\\xff b";
  for (const medium m : {medium::text, medium::terminal, medium::markdown}) {
    page p(m);
    p.line(name, style::plain, name);
    p.item(name);
    table t;
    t.add_column(name);
    t.add_row({{name}});
    p.add(t);
    p.verbatim({name});
    const std::string text = p.take();
    INFO(text);
    CHECK(count_of(text, m == medium::markdown ? "202e" : safe) >= 5);
    for (const char* bytes : {"\x1b[2J", "\xc2\x9b", "\u202e", "\xff", "a\nb"})
      CHECK(count_of(text, bytes) == 0);
  }
  CHECK(kzoo::safe_text(styled(name, style::bad, true)) == "\x1b[31m" + safe + "\x1b[0m");
}

TEST_CASE("prose is broken at spaces, in a pipe where it is very long", "[report]") {
  using lines = std::vector<std::string>;
  CHECK(kzoo::report::folded("ab cd  efgh i", 5) == lines{"ab cd", "efgh", "i"});
  CHECK(kzoo::report::folded("abcdefgh ij", 5) == lines{"abcdefgh", "ij"});
  CHECK(kzoo::report::folded("", 5) == lines{""});
  std::string words;
  for (int i = 0; i < 100; ++i) words += " kernel";
  page p(medium::text);
  p.item("wrong", style::bad, words);
  const std::string text = p.take();
  CHECK(text.starts_with("  wrong kernel kernel"));
  for (const std::string& line : kzoo::lines_of(text))
    CHECK(line.size() <= kzoo::report::kWidestProse);
}

TEST_CASE("a column of text wraps where a table is too wide", "[report]") {
  table t;
  t.add_column("name", table::align::left);
  t.add_column("ms");
  t.add_column("what it is", table::align::text);
  t.add_row({{"a"}, {"1"}, {"some words that are long"}});
  t.add_row({{"b"}, {"2"}, {"short"}});
  CHECK(t.str(false, "", 26) ==
        "name  ms  what it is\n"
        "a      1  some words that\n"
        "          are long\n"
        "b      2  short\n");
}

TEST_CASE("a line is cut to the width of the terminal", "[report]") {
  CHECK(shortened("error/√K is", 8) == "error/√K");
  CHECK(shortened("short", 80) == "short");
  CHECK(shortened("a\x1b[2J", 3) == "a\\x");
}

TEST_CASE("a table that is too wide loses columns, wraps names, and continues below", "[report]") {
  table t;
  t.add_column("name", table::align::left);
  t.add_column("kept");
  t.add_column("second", table::align::right, 1);
  t.add_column("first", table::align::right, 2);
  t.add_row({{"plugin:128x128_8x8"}, {"1"}, {"2"}, {"3"}}, 0.5);
  CHECK(t.left_out("", 100).empty());
  CHECK(t.left_out("", 37) == std::vector<std::string>{"first"});
  CHECK(t.str(false, "", 34) ==
        "name                kept  second\n"
        "plugin:128x128_8x8     1       2\n");
  CHECK(t.str(false, "", 20) ==
        "name            kept\n"
        "plugin:\n"
        "128x128_8x8        1\n");
  // A bar of 8 characters or more where there is room, and never in files.
  CHECK_THAT(t.str(false, "", 60), ContainsSubstring("3  █████████▌\n"));
  CHECK(t.str(false, "").find("█") == std::string::npos);

  table wide;
  wide.add_column("name", table::align::left);
  for (const char* title : {"aaaa", "bbbb", "cccc"}) wide.add_column(title);
  wide.add_row({{"x"}, {"1"}, {"2"}, {"3"}});
  CHECK(wide.fits("", 22));
  CHECK_FALSE(wide.fits("", 21));
  CHECK(wide.str(false, "", 17) ==
        "name  aaaa  bbbb\n"
        "x        1     2\n"
        "\n"
        "name  cccc\n"
        "x        3\n");
}

TEST_CASE("kernels that declined are named by plugin where there is no room", "[report]") {
  const std::vector<std::string> names{"a:1", "a:2", "b:1"};
  CHECK(names_of(names, kNoLimit) == "a:1, a:2, b:1");
  CHECK(names_of(names, 13) == "a:1, a:2, b:1");
  CHECK(names_of({"aaaaaaaa:1", "aaaaaaaa:2"}, 20) == "2 kernels of aaaaaaaa");
  CHECK(names_of({"aaaaaaaa:111111", "bbbbbbbb:1"}, 12) == "2 kernels of 2 plugins");
}

TEST_CASE("a long table on a terminal has the baseline, and the best variant of each plugin",
          "[report]") {
  kzoo::results::document d = kzoo::test::made_document();
  d.experiment.problems.resize(1);
  d.experiment.pivot_table.reset();
  d.experiment.baseline->text = "base:v9";
  d.cells.clear();
  for (int i = 0; i < 21; ++i) {
    d.cells.push_back(kzoo::test::made_cell(i < 15 ? "base" : "fast", 0, 1 + i));
    d.cells.back().kernel.variant = fmt::format("v{}", i);
    d.cells.back().end_to_end.reset();
  }
  const std::string narrow = full_report(d, {medium::text, 100});
  for (const char* shown : {"base:v0 ", "base:v9 ", "fast:v15 ", "18 more variants: --wide"})
    CHECK_THAT(narrow, ContainsSubstring(shown));
  CHECK_THAT(narrow, !ContainsSubstring("base:v1 "));
  CHECK_THAT(full_report(d, {medium::text}), ContainsSubstring("base:v1 "));
}

TEST_CASE("progress says how long the rest takes", "[report]") {
  kzoo::results::document d;
  d.experiment.problems.resize(2);
  for (auto& p : d.experiment.problems) p.m = p.n = p.k = 64;
  d.experiment.problems[1].k = 256;  // weighs twice as much
  d.experiment.timing.rounds = 4;
  d.planned = 4;
  progress p;
  p.begin(d);
  CHECK(p.done() == 0);
  CHECK(p.times_text(75) == "1:15");
  p.judges(d.experiment.problems[0]);
  CHECK(p.done() == 0);
  p.judges(d.experiment.problems[0]);
  CHECK(p.done() == Approx(1.0 / 12));
  p.times(d.experiment.problems[0], 2);
  CHECK(p.done() == Approx(0.25));
  CHECK(p.times_text(10) == "0:10, about 0:30 left");
  p.times(d.experiment.problems[0], 9);  // more rounds than asked for
  CHECK(p.done() == Approx(1.0 / 3));
  p.judges(d.experiment.problems[1]);
  CHECK(p.done() == Approx(1.0 / 3));
  p.times(d.experiment.problems[1], 2);
  CHECK(p.times_text(3600) == "1:00:00, about 12:00 left");
}
