#include "report/page.hpp"

#include "os/printable.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kzoo::report {
namespace {

constexpr std::string_view kIndent = "  ";  // of tables

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

// Lines after the first are indented further. The words may go on in them, too.
void page::add_prose(std::string_view indent, std::string_view words, style s,
                     std::string_view rest) {
  if (is_markdown()) {
    text_ += fmt::format("{}{}{}\n", indent, shown(words, s), shown(rest, style::plain));
    return;
  }
  constexpr std::string_view kFurther = "  ";
  const std::size_t most = std::min(view_.columns, kWidestProse) - indent.size() - kFurther.size();
  const std::string highlighted = printable(words);
  std::size_t left = highlighted.size();  // of the highlighted words
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

}  // namespace kzoo::report
