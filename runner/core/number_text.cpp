#include "core/number_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace kzoo {

std::string number_text(double x) {
  if (!std::isfinite(x)) return "-";
  if (x == 0) return "0";
  // Rounded to three digits first: 9.999 has as many before the point as 10.0 has.
  const double rounded = std::strtod(fmt::format("{:.2e}", x).c_str(), nullptr);
  const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(rounded))));
  return fmt::format("{:.{}f}", x, std::clamp(2 - magnitude, 0, 9));
}

std::string quantity_text(double x, std::string_view unit) {
  constexpr std::array<std::string_view, 7> kPrefixes{"", "k", "M", "G", "T", "P", "E"};
  std::size_t i = 0;
  for (; x >= 999.5 && i + 1 < kPrefixes.size(); ++i) x /= 1e3;
  return fmt::format("{} {}{}", number_text(x), kPrefixes[i], unit);
}

std::string time_text(double ms) {
  // At 999.5 three digits round up to the next unit.
  if (ms * 1e3 < 999.5) return number_text(ms * 1e3) + " us";
  if (ms < 999.5) return number_text(ms) + " ms";
  return number_text(ms / 1e3) + " s";
}

}  // namespace kzoo
