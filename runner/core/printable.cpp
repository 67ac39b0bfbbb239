#include "core/printable.hpp"

#include <fmt/format.h>

#include <cctype>

namespace kzoo {

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kLongestText)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\r' || c == '\t') {
      out += ' ';
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

std::string file_name_from(std::string text) {
  for (char& c : text) {
    const bool fine = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    if (!fine) c = '-';
  }
  return text;
}

}  // namespace kzoo
