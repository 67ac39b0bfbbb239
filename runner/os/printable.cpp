#include "os/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

namespace kzoo {
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

// The least code point of each UTF-8 length in bytes: longer forms are invalid.
constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};

std::size_t length_from(unsigned char first) {
  return first < 0x80             ? 1
         : (first & 0xe0) == 0xc0 ? 2
         : (first & 0xf0) == 0xe0 ? 3
         : (first & 0xf8) == 0xf0 ? 4
                                  : 0;
}

std::uint32_t code_point(std::string_view bytes) {
  const auto first = static_cast<unsigned char>(bytes[0]);
  if (bytes.size() == 1) return first;
  std::uint32_t code = first & (0x7fu >> bytes.size());
  for (const char c : bytes.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3fu);
  return code;
}

bool is_utf8(std::string_view bytes) {
  for (const char c : bytes.substr(1))
    if ((static_cast<unsigned char>(c) & 0xc0u) != 0x80) return false;
  const std::uint32_t code = code_point(bytes);
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  return code >= kLeast[bytes.size()] && code <= 0x10ffff && !is_surrogate;
}

}  // namespace

character first_character(std::string_view text) {
  const std::size_t length = length_from(static_cast<unsigned char>(text[0]));
  if (length == 0 || length > text.size() || !is_utf8(text.substr(0, length)))
    return {text.substr(0, 1), false};
  const std::uint32_t code = code_point(text.substr(0, length));
  for (const auto [first, last] : kActing)
    if (code >= first && code <= last) return {text.substr(0, length), false};
  return {text.substr(0, length), true};
}

std::string escaped(std::string_view bytes) {
  if (bytes.size() > 1) return fmt::format("\\u{:04x}", code_point(bytes));
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
    if (const auto end = what.rfind("): "); end != std::string_view::npos) {
      what = what.substr(0, end);
    }
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
