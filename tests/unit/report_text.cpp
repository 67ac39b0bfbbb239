#include "core/number_text.hpp"
#include "core/printable.hpp"
#include "report/page.hpp"
#include "report/table.hpp"
#include "report/text.hpp"
#include "support/catch.hpp"

using namespace kzoo::report;
using kzoo::number_text;
using kzoo::time_text;

namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

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
  CHECK(t.str(true, "") == " \x1b[2mx\x1b[0m\n\x1b[32mab\x1b[0m\n");
}

TEST_CASE("text from a plugin cannot drive the terminal", "[report]") {
  CHECK(kzoo::printable("a\x1b[31mb\nc\td\x7f") == "a\\x1b[31mb c d\\x7f");
  CHECK(kzoo::printable("Grüße √") == "Grüße √");
  CHECK(kzoo::printable(std::string(5000, 'x'), kzoo::kLongestText).size() == kzoo::kLongestText);
  CHECK(kzoo::printable("ab√√", 4) == "ab");  // not half of a character
  CHECK(kzoo::printable("\xc2\x9b"
                        "31m\xc2\x85") == "\\u009b31m\\u0085");  // C1
  CHECK(kzoo::printable("a\u202eb\u2066c\u200fd\u061ce\u2028") ==
        "a\\u202eb\\u2066c\\u200fd\\u061ce\\u2028");
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
  CHECK(styled(name, style::bad, true) == "\x1b[31m" + safe + "\x1b[0m");
}

TEST_CASE("a line is cut to the width of the terminal", "[report]") {
  CHECK(shortened("error/√K is", 8) == "error/√K");
  CHECK(shortened("short", 80) == "short");
  CHECK(shortened("a\x1b[2J", 3) == "a\\x");
}
