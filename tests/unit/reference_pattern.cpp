#include "reference/pattern.hpp"

#include "support/catch.hpp"

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
