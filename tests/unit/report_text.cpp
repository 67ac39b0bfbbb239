#include "core/number_text.hpp"
#include "core/printable.hpp"
#include "report/table.hpp"
#include "report/text.hpp"
#include "support/catch.hpp"

using namespace kzoo::report;
using kzoo::number_text;
using kzoo::time_text;

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
  CHECK(kzoo::printable(std::string(5000, 'x')).size() == kzoo::kLongestText);
}
