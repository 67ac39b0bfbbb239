// `runner xray --html`: what is wrong first, then the lines that cost most, in their source.
#include "html/page.hpp"
#include "support/catch.hpp"
#include "support/program.hpp"
#include "support/text.hpp"
#include "xray/counters.hpp"

#include <string>

using namespace kzoo;
using namespace kzoo::test;

namespace {

// A load of 32 lanes that are `stride` bytes apart.
xray::line_counts load(const std::string& file, unsigned line, unsigned stride) {
  xray::line_counts l;
  l.where = {file, "kernel", line};
  l.kind = xray::access::global_load;
  l.width = 4;
  const std::uint64_t sectors = stride / 8;
  l.counts = {100, 3200, 12800, 100 * std::max<std::uint64_t>(sectors, 4), 400};
  l.worst = {~0u, 4, unsigned(sectors), {}};
  for (unsigned lane = 0; lane < 32; ++lane) l.worst.offsets[lane] = lane * stride;
  return l;
}

xray::document made_analysis(const std::string& file) {
  xray::launch l;
  l.kernel = "kernel<1>";
  l.lines = {load(file, 2, 4), load(file, 3, 128), load(file, 12, 64)};
  xray::document d{"/e/quick.toml", {}};
  d.cells.push_back({{"mine", "16x16"}, {}, {}, verdict::pass, ""});
  d.cells[0].found = {l};
  return d;
}

std::string page_of(const xray::document& d) {
  std::string text;
  html::write_xray_page(d, [&](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace

TEST_CASE("an analysis as a page has the costliest line first, and in its source", "[html]") {
  const scratch_folder folder;
  const std::string file =
      folder.write("mine.cu", "one\ntwo\n<three>\n4\n5\n6\n7\n8\n9\n10\n11\ntwelve\n");
  const std::string page = page_of(made_analysis(file));
  CHECK_THAT(page, ContainsSubstring("No race, no uninitialised read"));
  CHECK_THAT(page, ContainsSubstring("mine.cu:3, global load, costs most: 16 sectors for each "
                                     "request where 4 would do: neighbouring lanes are 128 bytes"));
  const std::string row = "<th scope=\"row\">mine.cu:<wbr>";
  CHECK(page.find(row + "3") < page.find(row + "12"));
  CHECK(page.find(row + "2<") == std::string::npos);  // takes no more than its bytes need
  CHECK_THAT(page, ContainsSubstring("--heat:100%\"><span>3</span><code>&lt;three&gt;</code>"));
  CHECK_THAT(page, ContainsSubstring("--heat:33%\"><span>12</span><code>twelve</code>"));
  CHECK_THAT(page, ContainsSubstring("--heat:0%\"><span>2</span><code>two</code></div>\n"
                                     "<div class=\"about\">global load 4 B: 100 requests"));
  CHECK(count_of(page, "class=\"gap\"") == 0);
}

TEST_CASE("what is wrong on a GPU stands first, and at both of its lines", "[html]") {
  const scratch_folder folder;
  const std::string file = folder.write("mine.cu", "one\ntwo\n");
  xray::document d = made_analysis(file);
  xray::launch& l = d.cells[0].found->front();
  l.lines.clear();
  l.findings = {{"race in shared memory",
                 "a barrier",
                 "threads 0 and 33",
                 {file, "k", 2},
                 {file, "k", 1},
                 7}};
  const std::string page = page_of(d);
  CHECK_THAT(page, ContainsSubstring("<span class=\"bad\">Wrong: race in shared memory.</span>"));
  CHECK_THAT(page, ContainsSubstring("race in shared memory with mine.cu:1: threads 0 and 33"));
  CHECK_THAT(page, ContainsSubstring("race in shared memory with mine.cu:2: threads 0 and 33"));
  d.cells[0].found.reset();
  d.cells[0].verdict = verdict::crashed;
  d.cells[0].reason = "<SIGSEGV>";
  CHECK_THAT(page_of(d), ContainsSubstring("crashed: &lt;SIGSEGV&gt;"));
  CHECK_THAT(page_of(d), ContainsSubstring("Wrong: crashed.</span> Nothing was counted."));
}

TEST_CASE("a race between lines of one number in two files stands at both", "[html]") {
  const scratch_folder folder;
  const std::string file = folder.write("mine.cu", "one\n"), header = folder.write("mine.h", "1\n");
  xray::document d = made_analysis(file);
  d.cells[0].found->front().findings = {
      {"race", "a barrier", "threads 0 and 33", {file, "k", 1}, {header, "k", 1}, 7}};
  CHECK_THAT(page_of(d), ContainsSubstring("race with mine.h:1: threads"));
  CHECK_THAT(page_of(d), ContainsSubstring("race with mine.cu:1: threads"));
}

TEST_CASE("an analysis as a page praises no more than was counted", "[html]") {
  xray::document d = made_analysis("/gone.cu");
  xray::analysed declined = d.cells[0];
  declined.found.reset();
  declined.verdict = verdict::unsupported;
  declined.reason = "M is odd";
  d.cells.push_back(declined);
  CHECK_THAT(page_of(d), !ContainsSubstring("Wrong:"));
  CHECK_THAT(page_of(d), ContainsSubstring("no access out of bounds was found."));
  xray::launch& l = d.cells[0].found->front();
  l.blocks = 64;
  l.blocks_run = 8;
  CHECK_THAT(page_of(d), ContainsSubstring("was found in the blocks that were run."));
  l.blocks = 8;
  l.error = "a trap";
  CHECK_THAT(page_of(d), ContainsSubstring("was found in the blocks that were run."));
  CHECK_THAT(page_of(d), ContainsSubstring("and counts only in part: a trap"));
  d.cells.erase(d.cells.begin());
  CHECK_THAT(page_of(d), ContainsSubstring("Nothing was counted."));
  CHECK_THAT(page_of(d), !ContainsSubstring("No race"));
  CHECK_THAT(page_of(d), !ContainsSubstring("No line takes"));
  CHECK_THAT(page_of(d), !ContainsSubstring("class=\"good\""));
}
