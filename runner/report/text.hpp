#pragma once
// Words and numbers as people read them.

#include <string>
#include <string_view>

namespace kzoo::report {

enum class style { plain, good, bad, dim, bold };

// With the terminal's colour codes if `colour`.
std::string styled(std::string_view text, style s, bool colour);

// The same for Markdown: what would be markup is escaped, line breaks become spaces, and what is
// bad or bold is bold.
std::string markdown(std::string_view text, style s = style::plain);

// Columns on the terminal: characters, not bytes.
std::size_t width(std::string_view utf8);

// "63.6 us", "4.42 ms", "1.20 s": three digits.
std::string time_text(double ms);
// "481", "51400", "0.197": three digits, never an exponent.
std::string number_text(double x);
// "53.4 TFLOP/s", "137 MB": three digits, and the prefix that leaves fewest of them.
std::string quantity_text(double x, std::string_view unit);

}  // namespace kzoo::report
