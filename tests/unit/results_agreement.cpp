// Classes of equal results, and the pairs that follow from them.
#include "results/document.hpp"
#include "support/catch.hpp"

#include <cmath>

using namespace kzoo;
using results::cell;
using results::compared_pair;

namespace {

std::vector<compared_pair> pairs_of(const std::vector<cell>& cells) {
  std::vector<compared_pair> pairs;
  results::for_each_pair(cells, [&](const compared_pair& p) { pairs.push_back(p); });
  return pairs;
}

// 0 and 2 are equal, 1 is off, 3 was not compared, 4 is wrong.
std::vector<cell> five() {
  std::vector<cell> cells(5);
  cells[1].differences = {{0, {0.5, 0.25, 7, 8, true}}};
  cells[2].same_as = 0;
  cells[4].differences = {{0, {NAN, NAN, 1, 2, false}}, {1, {9, 3, 3, 4, false}}};
  return cells;
}

}  // namespace

TEST_CASE("the pairs of equal results follow from their class", "[results]") {
  const auto pairs = pairs_of(five());
  REQUIRE(pairs.size() == 6);
  const auto is = [&](std::size_t i, std::size_t a, std::size_t b) {
    return pairs[i].a == a && pairs[i].b == b;
  };
  CHECK((is(0, 0, 1) && is(1, 0, 2) && is(2, 1, 2) && is(3, 0, 4) && is(4, 1, 4) && is(5, 2, 4)));
  CHECK(pairs[0].difference.max_abs_diff == 0.5);
  CHECK((pairs[1].difference.agree && pairs[1].difference.worst_of_allowed == 0));
  CHECK(pairs[2].difference.worst_row == 7);
  CHECK(std::isnan(pairs[5].difference.max_abs_diff));
  CHECK_FALSE(pairs[4].difference.agree);
}
