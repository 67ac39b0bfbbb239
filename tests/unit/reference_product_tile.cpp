// The reference uses one of these functions; those for other CPUs are tested here too.

#include "reference/product.hpp"

#include "data/matrix.hpp"
#include "support/catch.hpp"

#include <cmath>

using namespace kzoo;
using namespace kzoo::reference;

TEST_CASE("every kind of tile sums the same products", "[reference]") {
  for (const std::int64_t depth : {1, 2, 255}) {
    std::vector<a_step> a(static_cast<std::size_t>(depth));
    std::vector<b_step> b(static_cast<std::size_t>(depth));
    // Small integers: every order of summation, fused or not, is exact.
    const auto whole = [](std::int64_t i) { return double(data::hash(5, i) % 17) - 8; };
    for (std::int64_t k = 0; k < depth; ++k) {
      for (int r = 0; r < kTileRows; ++r) a[std::size_t(k)].values[r] = whole(k * 100 + r);
      for (int c = 0; c < kTileCols; ++c) b[std::size_t(k)].values[c] = whole(k * 100 + 50 + c);
    }
    REQUIRE_FALSE(usable_tiles().empty());
    for (const tile_function tile : usable_tiles()) {
      tile_sums sums;
      tile(a.data(), b.data(), depth, sums);
      for (int r = 0; r < kTileRows; ++r) {
        for (int c = 0; c < kTileCols; ++c) {
          double value = 0, magnitude = 0;
          for (std::size_t k = 0; k < a.size(); ++k) {
            value += a[k].values[r] * b[k].values[c];
            magnitude += std::abs(a[k].values[r] * b[k].values[c]);
          }
          REQUIRE(sums.values[r][c] == value);
          REQUIRE(sums.magnitudes[r][c] == magnitude);
        }
      }
    }
  }
}
