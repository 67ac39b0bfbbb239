// fp8 conversions: each of the 256 values, and rounding to the nearest of them.
#include <kzoo/numeric.hpp>

#include "support/catch.hpp"

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>

namespace {

struct format {
  std::function<std::uint8_t(float)> from;
  std::function<float(std::uint8_t)> to;
  int bias, fraction;
  std::uint8_t largest;  // of the finite values
};
const format kFormats[] = {{kzoo::float_to_e4m3_bits, kzoo::e4m3_bits_to_float, 7, 3, 0x7e},
                           {kzoo::float_to_e5m2_bits, kzoo::e5m2_bits_to_float, 15, 2, 0x7b}};

double by_definition(const format& f, int magnitude) {
  const int exponent = magnitude >> f.fraction, bits = magnitude & ((1 << f.fraction) - 1);
  const double fraction = std::ldexp(bits, -f.fraction);
  return exponent == 0 ? std::ldexp(fraction, 1 - f.bias)
                       : std::ldexp(1 + fraction, exponent - f.bias);
}

}  // namespace

TEST_CASE("every fp8 value is what its format says", "[numeric]") {
  for (const format& f : kFormats) {
    for (int bits = 0; bits <= f.largest; ++bits) {
      const auto positive = static_cast<std::uint8_t>(bits);
      const auto negative = static_cast<std::uint8_t>(bits | 0x80);
      CHECK(f.to(positive) == by_definition(f, bits));
      CHECK(f.to(negative) == -by_definition(f, bits));
      CHECK(std::signbit(f.to(negative)));
      CHECK(f.from(f.to(positive)) == positive);
      CHECK(f.from(f.to(negative)) == negative);
    }
  }
  CHECK(kzoo::e4m3_bits_to_float(0x7e) == 448);
  CHECK(std::isnan(kzoo::e4m3_bits_to_float(0x7f)));
  CHECK(std::isnan(kzoo::e4m3_bits_to_float(0xff)));
  CHECK(kzoo::e5m2_bits_to_float(0x7b) == 57344);
  CHECK(std::isinf(kzoo::e5m2_bits_to_float(0x7c)));
  CHECK(std::isnan(kzoo::e5m2_bits_to_float(0x7d)));
}

TEST_CASE("floats become the nearest fp8 value, ties the even one", "[numeric]") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const format& f : kFormats) {
    for (int bits = 0; bits < f.largest; ++bits) {
      const auto low = static_cast<std::uint8_t>(bits), high = static_cast<std::uint8_t>(bits + 1);
      const float middle = (f.to(low) + f.to(high)) / 2;  // exact
      CHECK(f.from(middle) == (bits % 2 == 0 ? low : high));
      CHECK(f.from(std::nextafter(middle, 0.0f)) == low);
      CHECK(f.from(std::nextafter(middle, infinity)) == high);
      CHECK(f.from(-middle) == ((bits % 2 == 0 ? low : high) | 0x80));
    }
    const float largest = f.to(f.largest);
    for (const float beyond : {largest * 1.01f, largest * 2, 1e30f, infinity}) {
      CHECK(f.from(beyond) == f.largest);
      CHECK(f.from(-beyond) == (f.largest | 0x80));
    }
    CHECK(f.from(std::numeric_limits<float>::quiet_NaN()) == 0x7f);
    CHECK(f.from(0.0f) == 0);
    CHECK(f.from(-0.0f) == 0x80);
    CHECK(f.from(1e-40f) == 0);
  }
}
