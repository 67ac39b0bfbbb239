#include "report/page.hpp"

#include "os/output.hpp"
#include "os/text.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace kzoo::report {
namespace {

constexpr std::string_view kIndent = "  ";  // before each line of a table

}  // namespace

std::string page::shown(std::string_view text, style s) const {
  if (is_markdown()) return markdown(text, s);
  if (is_html()) return html(text, s);
  return styled(text, s, view_.medium == medium::terminal);
}

// In Markdown, blocks are separated by an empty line; only items follow each other without one.
void page::begin(block next) {
  const bool apart = last_ != block::none && !(last_ == block::item && next == block::item);
  if (is_markdown() && apart) text_ += '\n';
  last_ = next;
}

void page::line(std::string_view words, style s, std::string_view rest) {
  begin(block::line);
  if (is_html()) {
    const char* tag = s == style::bold ? "h3" : "p";
    text_ += fmt::format("<{0}>{1}<span>{2}</span></{0}>\n", tag, shown(words, s),
                         shown(rest, style::plain));
    return;
  }
  add_prose("", words, s, rest);
}

// Lines after the first, to which the words may extend, are indented further.
void page::add_prose(std::string_view indent, std::string_view words, style s,
                     std::string_view rest) {
  if (is_markdown()) {
    text_ += fmt::format("{}{}{}\n", indent, shown(words, s), shown(rest, style::plain));
    return;
  }
  constexpr std::string_view kFurther = "  ";
  const std::size_t most = std::min(view_.columns, kWidestProse) - indent.size() - kFurther.size();
  const std::string highlighted = printable(words);
  std::size_t left = highlighted.size();  // bytes of the highlighted words
  std::string_view before = indent;
  std::string further = std::string(indent) + std::string(kFurther);
  for (const std::string& line : folded(highlighted + printable(rest), most)) {
    const std::size_t here = std::min(left, line.size());
    text_ += fmt::format("{}{}{}\n", before, shown(line.substr(0, here), s),
                         shown(line.substr(here), style::plain));
    left -= std::min(left, here + 1);  // with the space where it is broken
    before = further;
  }
}

void page::item(std::string_view words, style s, std::string_view rest) {
  begin(block::item);
  if (is_html()) {
    text_ +=
        fmt::format("<p class=\"item\">{}{}</p>\n", shown(words, s), shown(rest, style::plain));
    return;
  }
  add_prose(is_markdown() ? "- " : "  ", words, s, rest);
}

bool page::has_room_for(const table& t) const {
  return is_markdown() || is_html() || t.fits(kIndent, view_.columns);
}

void page::add(const table& t) {
  if (t.rows() == 0) return;
  begin(block::table);
  if (is_markdown() || is_html()) {
    text_ += is_markdown() ? t.markdown() : t.html();
    return;
  }
  text_ += t.str(view_.medium == medium::terminal, kIndent, view_.columns);
  const std::vector<std::string> hidden = t.left_out(kIndent, view_.columns);
  if (hidden.empty() || std::exchange(told_, true)) return;
  item(fmt::format("no room for {} (--wide)", fmt::join(hidden, ", ")), style::dim, "");
}

void page::verbatim(const std::vector<std::string>& lines, bool folded) {
  if (lines.empty()) return;
  begin(block::table);
  if (is_html()) {
    if (folded) text_ += fmt::format("<details><summary>{}</summary>", html(lines.front()));
    text_ += "<pre>";
    for (std::size_t i = folded ? 1 : 0; i < lines.size(); ++i) text_ += html(lines[i]) + '\n';
    text_ += folded ? "</pre></details>\n" : "</pre>\n";
    return;
  }
  if (is_markdown()) text_ += "```\n";
  const std::string indent(is_markdown() ? 0 : 6, ' ');
  for (const std::string& line : lines) {
    const bool folds = is_narrow() && !is_markdown();
    for (const std::string& part :
         folds ? report::folded(line, view_.columns - indent.size()) : std::vector{printable(line)})
      text_ += indent + part + '\n';
  }
  if (is_markdown()) text_ += "```\n";
}

void page::end_section() {
  if (is_markdown() || is_html() || last_ == block::none) return;
  text_ += '\n';
  last_ = block::none;
}

std::string page::take() { return std::exchange(text_, {}); }

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
