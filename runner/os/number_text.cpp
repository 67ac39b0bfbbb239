#include "os/number_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace kzoo {

std::string number_text(double x) {
  if (!std::isfinite(x)) return "-";
  if (x == 0) return "0";
  // Rounded to three digits first: 9.999 becomes 10.0, with two digits before the point.
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
  // From 999.5 on, three digits would round to 1000.
  if (ms * 1e3 < 999.5) return number_text(ms * 1e3) + " us";
  if (ms < 999.5) return number_text(ms) + " ms";
  return number_text(ms / 1e3) + " s";
}

}  // namespace kzoo
