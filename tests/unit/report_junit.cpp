#include "report/report.hpp"

#include "support/catch.hpp"
#include "support/made_results.hpp"

#include <string>

using namespace kzoo;
using kzoo::test::ContainsSubstring;

namespace {

std::string junit_text(const results::document& d) {
  std::string text;
  report::write_junit(d, [&](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace

TEST_CASE("JUnit XML has a suite for each problem and a case for each kernel", "[report]") {
  results::document d = test::made_document();
  const std::string text = junit_text(d);
  INFO(text);
  for (const char* words :
       {"<testsuites name=\"Made\" tests=\"6\" failures=\"1\" errors=\"0\" skipped=\"2\">",
        "<testsuite name=\"512x512x512 f32\" hostname=\"machine\" "
        "timestamp=\"2026-01-02T03:04:05Z\" tests=\"3\" failures=\"0\" errors=\"0\" skipped=\"1\">",
        "<testcase classname=\"base\" name=\"base:8x8_4x4 512x512x512 f32\"/>",
        "<failure type=\"wrong\" message=\"wrong: element (1, 2) is nan\"/>",
        "<skipped message=\"unavailable: there is no cuda build of it here\"/>"}) {
    CHECK_THAT(text, ContainsSubstring(words));
  }
  d.cells[4].verdict = verdict::hung;
  CHECK_THAT(junit_text(d), ContainsSubstring("<error type=\"hung\""));
  d.planned = 7;
  CHECK_THAT(junit_text(d),
             ContainsSubstring("errors=\"2\"") && ContainsSubstring("1 of 7 cells were not run"));
}

TEST_CASE("no name breaks JUnit XML", "[report]") {
  results::document d = test::made_document();
  d.experiment.title = d.cells[4].reason = d.cells[0].kernel.variant = "<a b=\"c\">&]]>\x1b[2J\x01";
  const std::string text = junit_text(d);
  INFO(text);
  CHECK_THAT(text, ContainsSubstring("&lt;a b=&quot;c&quot;&gt;&amp;]]&gt;\\x1b[2J\\x01"));
  for (const char* raw : {"<a", "\x1b", "\x01"}) CHECK(text.find(raw) == std::string::npos);
}
