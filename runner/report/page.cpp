#include "report/page.hpp"

#include "os/printable.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

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
  text_ += shown(words, s) + shown(rest, style::plain) + '\n';
}

void page::item(std::string_view words, style s, std::string_view rest) {
  begin(block::item);
  if (is_html()) {
    text_ +=
        fmt::format("<p class=\"item\">{}{}</p>\n", shown(words, s), shown(rest, style::plain));
    return;
  }
  text_ += is_markdown() ? "- " : "  ";
  text_ += shown(words, s) + shown(rest, style::plain) + '\n';
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
  for (const std::string& line : lines)
    text_ += (is_markdown() ? "" : "      ") + printable(line) + '\n';
  if (is_markdown()) text_ += "```\n";
}

void page::end_section() {
  if (is_markdown() || is_html() || last_ == block::none) return;
  text_ += '\n';
  last_ = block::none;
}

std::string page::take() { return std::exchange(text_, {}); }

}  // namespace kzoo::report
