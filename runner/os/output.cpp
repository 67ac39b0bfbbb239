#include "os/output.hpp"

#include "os/printable.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

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
  constexpr std::size_t kUsual = 80;
  winsize size{};
  const bool known = ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kUsual;
}

std::string coloured(std::string_view text, std::string_view colour) {
  const std::string& mark = colour_mark();
  return fmt::format("{0}{1}m{2}{0}0m", mark, colour, text);
}

std::string safe_text(std::string_view text) {
  const std::string& mark = colour_mark();
  std::string safe;
  while (!text.empty()) {
    const std::string_view first = first_character(text).bytes;
    if (text.starts_with(mark)) {
      safe += "\x1b[";
      text.remove_prefix(mark.size());
    } else {
      safe += first == "\n" ? "\n" : printable(first);
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
