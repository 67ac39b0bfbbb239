#include "os/output.hpp"

#include "os/printable.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

namespace kzoo {
namespace {

// Those of report::styled().
constexpr std::array<std::string_view, 5> kColours{"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m",
                                                   "\x1b[32m"};

// The bytes at the start of the text that are written unchanged.
std::size_t unchanged(std::string_view text) {
  if (text[0] == '\n') return 1;
  const auto colour =
      std::ranges::find_if(kColours, [&](std::string_view c) { return text.starts_with(c); });
  if (colour != kColours.end()) return colour->size();
  const character c = first_character(text);
  return c.is_printable ? c.bytes.size() : 0;
}

}  // namespace

bool is_terminal(std::FILE* stream) {
  const char* kind = std::getenv("TERM");
  return isatty(fileno(stream)) != 0 && kind != nullptr && *kind != '\0' &&
         std::string_view(kind) != "dumb";
}

std::size_t columns_of(std::FILE* stream) {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  const bool known = ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kUsual;
}

void write_text(std::FILE* to, std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    std::size_t taken = unchanged(text);
    if (taken > 0) {
      shown += text.substr(0, taken);
    } else {
      taken = first_character(text).bytes.size();
      shown += printable(text.substr(0, taken));
    }
    text.remove_prefix(taken);
  }
  std::fwrite(shown.data(), 1, shown.size(), to);
}

bool write_data(std::FILE* to, std::string_view data) {
  if (isatty(fileno(to)) == 0) return std::fwrite(data.data(), 1, data.size(), to) == data.size();
  write_text(to, data);
  return std::ferror(to) == 0;
}

}  // namespace kzoo
