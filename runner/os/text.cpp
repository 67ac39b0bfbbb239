#include "os/text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <boost/nowide/utf/utf.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
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

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
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

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
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

namespace {

struct range {
  std::uint32_t first, last;
};

// Code points that a terminal acts upon instead of showing them, and two that XML cannot hold.
constexpr std::array<range, 7> kActing{{{0x00, 0x1f},
                                        {0x7f, 0x9f},
                                        {0x061c, 0x061c},
                                        {0x200e, 0x200f},
                                        {0x2028, 0x202e},
                                        {0x2066, 0x2069},
                                        {0xfffe, 0xffff}}};

using utf8 = boost::nowide::utf::utf_traits<char>;

}  // namespace

character first_character(std::string_view text) {
  const char* end = text.data();
  const std::uint32_t code = utf8::decode(end, text.data() + text.size());
  if (!boost::nowide::utf::is_valid_codepoint(code)) return {text.substr(0, 1), false};
  const std::string_view bytes(text.data(), static_cast<std::size_t>(end - text.data()));
  const auto has_it = [=](const range& r) { return code >= r.first && code <= r.last; };
  return {bytes, std::ranges::none_of(kActing, has_it)};
}

std::string escaped(std::string_view bytes) {
  const char* at = bytes.data();
  if (bytes.size() > 1)
    return fmt::format("\\u{:04x}", std::uint32_t{utf8::decode(at, at + bytes.size())});
  return fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes[0]));
}

std::string printable(std::string_view text, std::size_t longest) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto [bytes, is_printable] = first_character(text.substr(at));
    at += bytes.size();
    if (at > longest) break;
    if (bytes == "\n" || bytes == "\r" || bytes == "\t") {
      out += ' ';
    } else if (is_printable) {
      out += bytes;
    } else {
      out += escaped(bytes);
    }
  }
  return out;
}

std::string printable_lines(std::string_view text, std::size_t longest) {
  text.remove_prefix(std::min(text.find_first_not_of("\r\n"), text.size()));
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1).substr(0, longest);
  std::string out;
  for (;;) {
    std::string_view line = text.substr(0, text.find('\n'));
    const bool is_last = line.size() == text.size();
    if (line.ends_with('\r')) line.remove_suffix(1);
    out += printable(line);
    if (is_last) return out;
    out += '\n';
    text.remove_prefix(text.find('\n') + 1);
  }
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

std::string loader_message(std::string_view what, const std::string& file) {
  constexpr std::string_view kBefore = "dlerror system message: ";
  if (const auto at = what.find(kBefore); at != std::string_view::npos) {
    what.remove_prefix(at + kBefore.size());
    if (const auto end = what.rfind("): "); end != std::string_view::npos)
      what = what.substr(0, end);
  }
  if (what.starts_with(file + ": ")) what.remove_prefix(file.size() + 2);
  return std::string(what);
}

std::string file_name_from(std::string text) {
  constexpr std::size_t kLongest = 100;
  if (text.size() > kLongest) text.resize(kLongest);
  for (char& c : text) {
    const bool fine = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    if (!fine) c = '-';
  }
  return text;
}

std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain = "_.-,:/=@+";
  const bool is_plain = std::ranges::all_of(text, [&](unsigned char c) {
    return std::isalnum(c) != 0 || kPlain.find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (is_plain && !text.empty()) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace kzoo
