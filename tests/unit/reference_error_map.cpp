// The map of errors in C.
#include "reference/error_map.hpp"

#include "support/catch.hpp"
#include "unit/reference_samples.hpp"

using namespace kzoo;
using namespace kzoo::samples;

namespace {

reference::error_map mapped(const problem& p, const buffer& words) {
  return reference::map_errors(reference::expected_result(p), usual_precision(p.dtype.a),
                               words.bytes());
}

}  // namespace

TEST_CASE("a correct result is all dots", "[reference]") {
  const problem p = sized(5, 7, 9);
  const reference::error_map map = mapped(p, computed(p));
  CHECK(map.picture == std::vector<std::string>(5, "......."));
  CHECK(map.first.empty());
}

TEST_CASE("wrong elements are marked at their position", "[reference]") {
  problem p = sized(48, 128, 9);  // two rows and two columns a character
  p.padding = 3;
  buffer words = computed(p);
  words.put(0, 0, 100);                                               // 1 of 4
  for (int i = 0; i < 4; ++i) words.put(4 + i / 2, 6 + i % 2, -100);  // all of 4
  words.unwrite(47, 127);
  words.put(20, 64, INFINITY);
  const reference::error_map map = mapped(p, words);
  REQUIRE(map.picture.size() == 24);
  CHECK(map.rows_per_line == 2);
  CHECK(map.columns_per_character == 2);
  CHECK(map.picture[0] == "3" + std::string(63, '.'));
  CHECK(map.picture[2] == "...#" + std::string(60, '.'));
  CHECK(map.picture[10] == std::string(32, '.') + "N" + std::string(31, '.'));
  CHECK(map.picture[23] == std::string(63, '.') + "o");
  REQUIRE(map.first.size() == 7);
  CHECK(map.first[0].got == 100);
  CHECK(map.first[1].row == 4);
  CHECK(map.first[1].col == 6);
  CHECK(map.first[6].unwritten);
  const auto lines = reference::lines_of(map);
  CHECK(lines.size() == 1 + 24 + 1 + 7);
  CHECK_THAT(lines.back(), test::ContainsSubstring("not written"));
}

TEST_CASE("rows without expected values are searched for unwritten and non-finite elements",
          "[reference]") {
  const problem p = sized(20, 8, 16);
  const reference::expected_result some(p, 2.5 * 8 * 16);  // the first row and the last
  buffer words = computed(p);
  words.put(7, 3, 100);
  words.unwrite(8, 3);
  const auto map = reference::map_errors(some, KZOO_COMPUTE_FP32, words.bytes());
  CHECK(map.picture[7] == "........");
  CHECK(map.picture[8] == "...o....");
}
