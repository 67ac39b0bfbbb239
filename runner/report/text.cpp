#include "report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string>

namespace kzoo::report {

std::string styled(std::string_view text, style s, bool colour) {
  if (!colour || s == style::plain || text.empty()) return std::string(text);
  const char* code = s == style::good ? "32" : s == style::bad ? "31" : s == style::dim ? "2" : "1";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string markdown(std::string_view text, style s) {
  constexpr std::string_view kMarkup = R"(\`*<[|~$&)";
  const auto in_word = [&](std::size_t i) {
    return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0);
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    // Inside a word, as in 8x8_4x4, an underscore is no markup.
    const bool underscore = c == '_' && !(i > 0 && in_word(i - 1) && in_word(i + 1));
    if (underscore || kMarkup.find(c) != std::string_view::npos) out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  const bool bold = !out.empty() && (s == style::bad || s == style::bold);
  return bold ? "**" + out + "**" : out;
}

std::size_t width(std::string_view utf8) {
  return static_cast<std::size_t>(std::ranges::count_if(
      utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }));
}

std::string number_text(double x) {
  if (!std::isfinite(x)) return "-";
  if (x == 0) return "0";
  // Rounded to three digits first: 9.999 has as many before the point as 10.0 has.
  const double rounded = std::stod(fmt::format("{:.2e}", x));
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

}  // namespace kzoo::report
