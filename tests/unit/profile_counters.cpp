// What ncu prints, as launches with their counters.
#include "profile/ncu.hpp"

#include "support/catch.hpp"
#include "support/fake_ncu.hpp"

using kzoo::profile::read_raw_page;
using kzoo::test::kRawPage;

TEST_CASE("a raw page is read among other lines", "[profile]") {
  const auto page = read_raw_page(
      "==PROF== Connected to process 4242 (/x/runner)\n"
      "a plugin prints \"this\", and\n\"ID\",\"that\"\n"
      "==PROF== Profiling \"tile\" - 0: 0%....50%....100% - 9 passes\n" +
      kRawPage + "==WARNING== something\n");
  REQUIRE(page);
  REQUIRE(page->size() == 2);
  const auto& tile = page->front();
  CHECK(tile.kernel == "void tile<(int)8, float>(gemm<T2>, int)");
  CHECK(tile.grid == std::array<std::uint32_t, 3>{4, 2, 1});
  CHECK(tile.block == std::array<std::uint32_t, 3>{8, 16, 1});
  CHECK(tile.value("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") == 5120);
  CHECK(tile.value("dram__throughput.avg.pct_of_peak_sustained_elapsed") == 12.34);
  CHECK(tile.value("gpu__time_duration.sum") == 1.5e6);
  // What has no number there is not there.
  CHECK_FALSE(page->back().value("dram__throughput.avg.pct_of_peak_sustained_elapsed"));
  CHECK_FALSE(tile.value("Device"));
}

TEST_CASE("times are nanoseconds, whatever their unit", "[profile]") {
  for (const auto& [unit, factor] : std::map<std::string, double>{{"ns", 1},
                                                                  {"nsecond", 1},
                                                                  {"us", 1e3},
                                                                  {"usecond", 1e3},
                                                                  {"ms", 1e6},
                                                                  {"second", 1e9}}) {
    std::string text = kRawPage;
    text.replace(text.find("\"ns\""), 4, '"' + unit + '"');
    INFO(unit);
    const auto page = read_raw_page(text);
    REQUIRE(page);
    CHECK(page->back().value("gpu__time_duration.sum") == 2500 * factor);
  }
}

TEST_CASE("other output is no raw page", "[profile]") {
  CHECK_FALSE(read_raw_page(""));
  CHECK_FALSE(read_raw_page("==ERROR== Failed to find metric regex:^a\\.(sum|avg)$\n"));
  // The details page.
  CHECK_FALSE(
      read_raw_page("\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
                    "\"0\",\"f()\",\"Duration\",\"us\",\"3\"\n"));
  const auto head_alone = read_raw_page(kRawPage.substr(0, kRawPage.find('\n') + 1));
  REQUIRE(head_alone);
  CHECK(head_alone->empty());
}
