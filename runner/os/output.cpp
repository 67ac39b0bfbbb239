#include "os/output.hpp"

#include "os/text.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <random>

namespace kzoo {
namespace {

const std::string& colour_mark() {
  static const std::string mark = [] {
    std::random_device random;
    return fmt::format("\x1b{:08x}{:08x}", random(), random());
  }();
  return mark;
}

}  // namespace

bool is_terminal(std::FILE* stream) {
  const char* kind = std::getenv("TERM");
  return isatty(fileno(stream)) != 0 && kind != nullptr && *kind != '\0' &&
         std::string_view(kind) != "dumb";
}

std::size_t columns_of(std::FILE* stream) {
  constexpr std::size_t kUsual = 80, kLeast = 30;  // a narrower terminal breaks lines itself
  winsize size{};
  const bool known = ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? std::max<std::size_t>(size.ws_col, kLeast) : kUsual;
}

std::string coloured(std::string_view text, std::string_view colour) {
  const std::string& mark = colour_mark();
  return fmt::format("{0}{1}m{2}{0}0m", mark, colour, text);
}

std::string safe_text(std::string_view text) {
  const std::string& mark = colour_mark();
  std::string safe;
  while (!text.empty()) {
    const auto end = std::ranges::find_if(
        text, [](char c) { return (c < ' ' && c != '\n' && c != '\t') || c > '~'; });
    const auto plain = static_cast<std::size_t>(end - text.begin());
    safe += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const std::string_view first = first_character(text).bytes;
    if (text.starts_with(mark)) {
      safe += "\x1b[";
      text.remove_prefix(mark.size());
    } else {
      safe += printable(first);
      text.remove_prefix(first.size());
    }
  }
  return safe;
}

bool write_text(std::FILE* to, std::string_view text) {
  const std::string safe = safe_text(text);
  return std::fwrite(safe.data(), 1, safe.size(), to) == safe.size();
}

}  // namespace kzoo
