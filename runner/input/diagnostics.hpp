#pragma once
// Collects the errors in a file and reports all of them at once, as a compiler does.

#include "core/location.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kzoo::input {

// Thrown for a file or a flag with an invalid value. what() is the whole message: where, what was
// found, what is allowed, the nearest known word.
class invalid : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class diagnostics {
 public:
  // `text`: the file's content, for quoted lines; it must outlive this.
  diagnostics(std::string file, std::string_view text);

  location at(unsigned line, unsigned column) const { return {file_, line, column}; }

  void error(const location& where, std::string message);
  // A message as for fmt::format().
  template <class First, class... Rest>
  void error(const location& where, fmt::format_string<First, Rest...> message, First&& first,
             Rest&&... rest) {
    error(where, fmt::format(message, std::forward<First>(first), std::forward<Rest>(rest)...));
  }
  bool any() const { return !found_.empty(); }
  // Throws `invalid` with the first kShown errors, in the order of the file.
  void throw_if_any();

  static constexpr std::size_t kShown = 10;

 private:
  struct entry {
    location where;
    std::string message;
  };
  std::string format(const entry& e) const;

  std::string file_;
  std::string_view text_;
  std::vector<entry> found_;
};

// "WHERE: error: MESSAGE", for errors outside files. An empty `where` is left out.
std::string error_text(std::string_view where, std::string_view message);
// Throws `invalid` with error_text().
[[noreturn]] void refuse(std::string_view where, std::string_view message);
[[noreturn]] inline void refuse(const location& where, std::string_view message) {
  refuse(to_string(where), message);
}
// A message as for fmt::format().
template <class Where, class First, class... Rest>
[[noreturn]] void refuse(const Where& where, fmt::format_string<First, Rest...> message,
                         First&& first, Rest&&... rest) {
  refuse(where, std::string_view(
                    fmt::format(message, std::forward<First>(first), std::forward<Rest>(rest)...)));
}

// The text in quotes, shortened if long, with control characters escaped: safe for a terminal.
std::string in_quotes(std::string_view text, char quote = '"');

// The known word with the smallest edit distance to `found`, ignoring case, if one is close.
std::optional<std::string> nearest(std::string_view found, const std::vector<std::string>& known);
// "; did you mean 'x'?", to end a message. Empty when no known word is close.
std::string did_you_mean(std::string_view found, const std::vector<std::string>& known);

// A kind of file: its name and suffix in messages, and its largest size.
struct file_kind {
  std::string_view name, suffix;
  std::size_t most_mebibytes;
};
inline constexpr file_kind kExperimentFile{"an experiment file", ".toml", 1};

// Opens a file or a pipe of any size. Throws `invalid` if it cannot be read.
std::ifstream open_file(const std::filesystem::path& path, const file_kind& kind);

// The whole content of a file or a pipe. Throws `invalid` if it cannot be read or is too large.
std::string read_file(const std::filesystem::path& path, const file_kind& kind = kExperimentFile);

}  // namespace kzoo::input
