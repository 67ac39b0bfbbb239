#include "os/text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>

namespace kzoo {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) + 1 - first);
}

bool is_in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_in_word(text[at - 1])) && (end == text.size() || !is_in_word(text[end])))
      return true;
  }
  return false;
}

bool is_c_name(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::ranges::all_of(text, is_in_word);
}

std::string with_spaces(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

void add_once(std::vector<std::string>& list, std::string_view word) {
  if (std::ranges::count(list, word) == 0) list.emplace_back(word);
}

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

std::string utc_now() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%FT%TZ}", fmt::gmtime(now));
}

}  // namespace kzoo
