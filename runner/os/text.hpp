#pragma once
// Splits text into lines, words and numbers, and formats numbers with units for people.

#include <charconv>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace kzoo {

// The lines of a text; the last needs no line break.
std::vector<std::string> lines_of(std::string_view text);

// The parts between separators that are not empty: PATH, "a,b". They refer to the text.
std::vector<std::string_view> parts_of(std::string_view text, char separator);

// The text without leading and trailing spaces.
std::string_view trimmed(std::string_view text);
inline bool has_part(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}
// Letters, digits and '_'.
bool is_in_word(char c);
// Whether the text has this word, and not as a part of a longer one.
bool has_word(std::string_view text, std::string_view word);
// Whether C could have the name: a word that does not begin with a digit.
bool is_c_name(std::string_view text);
// "max clock mhz" for "max_clock_mhz".
std::string with_spaces(std::string name);

// "1 sample", "3 samples".
std::string counted(std::size_t count, std::string_view noun);

// The number, if the whole text is one.
template <class T>
std::optional<T> number_from(std::string_view text) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, number);
  if (fault != std::errc{} || stop != end) return std::nullopt;
  return number;
}

// The texts of all, with `between` between them.
template <class Range, class Text = std::identity>
std::string joined(const Range& all, std::string_view between, const Text& text_of = {}) {
  std::string text;
  for (bool later = false; const auto& each : all) {
    if (std::exchange(later, true)) text += between;
    text += std::invoke(text_of, each);
  }
  return text;
}

void add_once(std::vector<std::string>& list, std::string_view word);

// "63.6 us", "4.42 ms", "1.20 s": three significant digits.
std::string time_text(double ms);
// "481", "51400", "0.197": three significant digits, never an exponent.
std::string number_text(double x);
// "53.4 TFLOP/s", "137 MB": three significant digits, an SI prefix, below 1000.
std::string quantity_text(double x, std::string_view unit);

// The current UTC time in ISO 8601, the format of stored results.
std::string utc_now();

// Makes untrusted text safe for a terminal or a file name.

// The first character of a UTF-8 text, which must not be empty.
struct character {
  std::string_view bytes;
  // False for control characters (C0, DEL and C1), for characters that change text direction or
  // break lines, and for a byte that is not UTF-8.
  bool is_printable;
};
character first_character(std::string_view text);
// Escapes a character: \x1b for a byte, \u202e for a code point.
std::string escaped(std::string_view bytes);

// The longest text accepted from a plugin, in bytes.
inline constexpr std::size_t kLongestText = 2000;
// Line breaks and tabs become spaces. Escapes unprintable characters. Cuts at `longest` bytes.
std::string printable(std::string_view text, std::size_t longest = std::string_view::npos);

// Like printable(), but keeps line breaks, except at the beginning and the end.
std::string printable_lines(std::string_view text, std::size_t longest = std::string_view::npos);
std::string_view first_line(std::string_view text);

// Why the dynamic loader refused a library: MESSAGE in Boost's text `what`, "… (dlerror system
// message: FILE: MESSAGE): …".
std::string loader_message(std::string_view what, const std::string& file);

// Keeps letters, digits, '_' and '.'; other characters become hyphens. Such a part of a file name
// needs no quotes in a shell. Cut after 100 characters, since a file's name is limited to 255.
std::string file_name_from(std::string text);

// A word of a command line to copy: in quotes where a shell needs them.
std::string shell_word(const std::string& text);

}  // namespace kzoo
