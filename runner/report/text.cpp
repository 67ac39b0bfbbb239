#include "report/page.hpp"

#include "os/output.hpp"
#include "os/printable.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace kzoo::report {

std::string styled(std::string_view words, style s, bool colour) {
  std::string text = printable(words);
  if (!colour || s == style::plain || text.empty()) return text;
  constexpr std::array kCodes{"", "32", "31", "2", "1"};  // by style
  return coloured(text, kCodes.at(static_cast<std::size_t>(s)));
}

std::string markdown(std::string_view words, style s) {
  const std::string text = printable(words);
  constexpr std::string_view kMarkup = R"(\`*<[|~$&)";
  const auto in_word = [&](std::size_t i) {
    return i < text.size() && std::isalnum(static_cast<unsigned char>(text[i])) != 0;
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    // Inside a word, as in 8x8_4x4, an underscore needs no escape.
    const bool underscore = c == '_' && !(i > 0 && in_word(i - 1) && in_word(i + 1));
    if (underscore || kMarkup.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  const bool bold = !out.empty() && (s == style::bad || s == style::bold);
  return bold ? "**" + out + "**" : out;
}

std::string html(std::string_view words, style s) {
  std::string out;
  for (const char c : printable(words)) {
    const char* entity = c == '&'    ? "&amp;"
                         : c == '<'  ? "&lt;"
                         : c == '>'  ? "&gt;"
                         : c == '"'  ? "&quot;"
                         : c == '\'' ? "&#39;"
                                     : nullptr;
    out += entity != nullptr ? entity : std::string(1, c);
  }
  if (s == style::plain || out.empty()) return out;
  constexpr std::array kClasses{"", "good", "bad", "dim", "bold"};  // by style
  return fmt::format("<span class=\"{}\">{}</span>", kClasses.at(static_cast<std::size_t>(s)), out);
}

std::string shortened(std::string_view text, std::size_t most) {
  std::string line = printable(text);
  std::size_t end = 0;
  for (std::size_t i = 0; i < most && end < line.size(); ++i)
    end += first_character(std::string_view(line).substr(end)).bytes.size();
  line.resize(end);
  return line;
}

std::vector<std::string> wrapped(std::string_view name, std::size_t most) {
  std::vector<std::string> lines;
  while (width(name) > most) {
    std::string line = shortened(name, most);
    const std::size_t stop = line.find_last_of(":_@, ");
    if (stop != std::string::npos && stop > 0) line.resize(stop + 1);
    if (line.empty() || !name.starts_with(line)) break;
    lines.push_back(line);
    name.remove_prefix(line.size());
  }
  lines.emplace_back(name);
  return lines;
}

std::vector<std::string> folded(std::string_view text, std::size_t most) {
  std::vector<std::string> lines{""};
  std::size_t taken = 0;  // columns of the last line
  const std::string safe = printable(text);
  for (std::size_t at = 0; at < safe.size();) {
    // A word with the spaces before it.
    const std::size_t word = std::min(safe.find_first_not_of(' ', at), safe.size());
    const std::size_t end = std::min(safe.find(' ', word), safe.size());
    const std::size_t wide = width(std::string_view(safe).substr(at, end - at));
    if (taken > 0 && taken + wide > most) {
      lines.push_back(safe.substr(word, end - word));
      taken = width(lines.back());
    } else {
      lines.back() += safe.substr(at, end - at);
      taken += wide;
    }
    at = end;
  }
  return lines;
}

void add_item(std::string& list, std::string_view item) {
  if (!list.empty()) list += ", ";
  list += item;
}

std::string some_of(std::vector<std::string> names, std::size_t most) {
  const std::size_t more = names.size() - std::min(names.size(), most);
  names.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(names, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

std::size_t width(std::string_view utf8) {
  return static_cast<std::size_t>(std::ranges::count_if(
      utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }));
}

}  // namespace kzoo::report
