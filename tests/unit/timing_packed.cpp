// Lists of numbers in the narrowest type.
#include "support/catch.hpp"
#include "timing/packed.hpp"

#include <bit>
#include <cmath>
#include <limits>

using kzoo::timing::packed_integers;
using kzoo::timing::packed_numbers;

TEST_CASE("packed numbers come back bit for bit", "[timing]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  for (const std::vector<double>& list :
       std::vector<std::vector<double>>{{},
                                        {0, 1, 65535},
                                        {1980, 65536},
                                        {-1},
                                        {-0.0, 0.0},
                                        {0.1},
                                        {double(0.1f), 3, 1e30f},
                                        {1e300},
                                        {nan, 1},
                                        {infinite, -infinite},
                                        {16777217},
                                        {std::numeric_limits<double>::denorm_min()}}) {
    const packed_numbers packed(list);
    REQUIRE(packed.size() == list.size());
    CHECK(packed.empty() == list.empty());
    for (std::size_t i = 0; i < list.size(); ++i) {
      INFO(list[i]);
      CHECK(std::bit_cast<std::uint64_t>(packed[i]) == std::bit_cast<std::uint64_t>(list[i]));
      CHECK(std::bit_cast<std::uint64_t>(packed.unpacked()[i]) ==
            std::bit_cast<std::uint64_t>(list[i]));
    }
  }
  constexpr int kMost = std::numeric_limits<int>::max();
  for (const std::vector<int>& list : {std::vector{0, 65535}, {65536}, {-1, kMost}}) {
    CHECK(packed_integers(list).unpacked() == list);
    CHECK(packed_integers(list).back() == list.back());
  }
}
