// Names of places and patterns in C, and the map of errors.
#include "reference/places.hpp"
#include "support/catch.hpp"
#include "unit/reference_samples.hpp"

using namespace kzoo::reference;

namespace {

template <class Marked>
std::string pattern(const Marked& marked, double filled = 1.0) {
  return pattern_of(12, 20, marked, filled).value_or("none");
}

}  // namespace

TEST_CASE("patterns have names", "[reference]") {
  CHECK(pattern([](auto, auto) { return false; }) == "none");
  CHECK(pattern([](auto, auto) { return true; }) == "rows 0 to 11");
  CHECK(pattern([](auto r, auto) { return r == 4; }) == "row 4");
  CHECK(pattern([](auto r, auto) { return r % 3 == 1; }) == "every 3rd row from row 1");
  CHECK(pattern([](auto r, auto) { return r == 1 || r == 2 || r == 8; }) == "3 rows from 1 to 8");
  CHECK(pattern([](auto r, auto) { return r % 6 > 3; }) == "2 of every 6 rows from row 4");
  CHECK(pattern([](auto, auto c) { return c % 7 > 3; }) ==
        "3 of every 7 columns from column 4 of every row");  // the edge cuts off the last
  CHECK(pattern([](auto, auto c) { return c >= 16; }) == "columns 16 to 19 of every row");
  CHECK(pattern([](auto, auto c) { return c % 4 == 3; }) ==
        "every 4th column from column 3 of every row");
  CHECK(pattern([](auto r, auto c) { return r == 11 || c == 19; }) == "row 11 and column 19");
  CHECK(pattern([](auto r, auto c) { return r < 4 && c < 8; }) == "rows 0 to 3 of columns 0 to 7");
  CHECK(pattern([](auto r, auto c) { return r == 2 && c == 3; }) == "row 2, column 3");
  CHECK(pattern([](auto r, auto c) { return r * 20 + c > 100; }) ==
        "everything from row 5, column 1 on");
  CHECK(pattern([](auto r, auto c) { return r == c; }) == "none");
}

TEST_CASE("a batch's patterns are whole products, or the same in each", "[reference]") {
  const auto of_batch = [](const auto& marked) {
    return pattern_of(5, 12, 20, marked).value_or("none");
  };
  CHECK(of_batch([](auto, auto) { return true; }) == "products 0 to 4");
  CHECK(of_batch([](auto r, auto) { return r / 12 == 3; }) == "product 3");
  CHECK(of_batch([](auto r, auto) { return r / 12 % 2 == 1; }) == "2 products from 1 to 3");
  CHECK(of_batch([](auto r, auto c) { return r / 12 > 2 && c == 19; }) ==
        "column 19 of every row of products 3 to 4");
  CHECK(of_batch([](auto r, auto) { return r % 12 == 11; }) == "row 11 of every product");
  CHECK(of_batch([](auto r, auto) { return r == 11 || r == 24; }) == "none");
  CHECK(of_batch([](auto, auto) { return false; }) == "none");
}

TEST_CASE("a pattern may have holes if the caller allows them", "[reference]") {
  const auto holes = [](auto r, auto c) { return r >= 8 && r != c; };
  CHECK(pattern(holes) == "none");
  CHECK(pattern(holes, 0.9) == "rows 8 to 11");
  CHECK(pattern(holes, 0.96) == "none");
  const auto stray = [](auto r, auto c) { return r >= 8 || (r == 0 && c == 0); };
  CHECK(pattern(stray, 0.9) == "none");
}

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
