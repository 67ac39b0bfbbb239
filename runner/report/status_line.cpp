#include "report/status_line.hpp"

#include "os/output.hpp"
#include "report/text.hpp"

#include <utility>

namespace kzoo::report {

status_line::status_line(std::FILE* to) : to_(to), live_(is_terminal(to)) {}

void status_line::show(std::string_view text) {
  if (!live_) return;
  clear();
  // A line that wraps cannot be rewritten.
  write_text(to_, shortened(text, columns_of(to_) - 1));
  std::fflush(to_);
  shown_ = true;
}

void status_line::clear() {
  if (!std::exchange(shown_, false)) return;
  std::fputs("\r\x1b[K", to_);
  std::fflush(to_);
}

}  // namespace kzoo::report
