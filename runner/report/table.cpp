#include "report/page.hpp"

#include "os/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace kzoo::report {
namespace {

constexpr std::size_t kGap = 2;         // between columns
constexpr std::size_t kNarrowest = 12;  // a column that wraps
constexpr std::size_t kShortestBar = 8, kLongestBar = 24;

// A bar of block elements, in eighths of a character.
std::string bar(double share, std::size_t longest) {
  constexpr std::array<const char*, 8> kParts{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<std::size_t>(
      std::clamp(share, 0.0, 1.0) * static_cast<double>(8 * longest) + 0.5);
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  return text + kParts[eighths % 8];
}

// HTML in which names may break behind the joints of their parts.
std::string with_breaks(const std::string& html) {
  std::string out;
  bool in_tag = false;
  for (const char c : html) {
    out += c;
    in_tag = c == '<' || (in_tag && c != '>');
    if (!in_tag && std::string_view(":_@").find(c) != std::string_view::npos) out += "<wbr>";
  }
  return out;
}

}  // namespace

void table::add_column(const std::string& title, align a, int rank) {
  std::vector<std::string> lines = lines_of(title);
  for (std::string& line : lines) line = printable(line);
  columns_.push_back({std::move(lines), a, rank});
}

void table::add_row(std::vector<field> fields, double share) {
  fields.resize(columns_.size());
  for (field& f : fields) f.text = printable(f.text);  // before its width counts
  rows_.push_back({std::move(fields), share});
}

void table::add_entries(const std::vector<entry>& entries, double share) {
  std::vector<field> fields;
  for (const entry& e : entries) {
    if (rows_.empty()) add_column(e.title, e.align, e.rank);
    fields.push_back(e.field);
  }
  add_row(std::move(fields), share);
}

bool table::used(std::size_t c) const {
  return std::ranges::any_of(rows_, [=](const row& r) { return !r.fields[c].text.empty(); });
}

std::size_t table::width_of(std::size_t c) const {
  std::size_t widest = title_width(c);
  for (const row& r : rows_) widest = std::max(widest, width(r.fields[c].text));
  return widest;
}

std::size_t table::width_of(const places& shown) const {
  std::size_t sum = 0;
  for (const std::size_t c : shown) sum += width_of(c) + kGap;
  return sum == 0 ? 0 : sum - kGap;
}

// The columns that a table has if it may be so wide.
table::places table::shown(std::size_t most) const {
  places all;
  for (std::size_t c = 0; c < columns_.size(); ++c)
    if (used(c)) all.push_back(c);
  while (width_of(all) > most) {
    const auto next =
        std::ranges::max_element(all, {}, [&](std::size_t c) { return columns_[c].rank; });
    if (next == all.end() || columns_[*next].rank == 0) break;
    all.erase(next);
  }
  return all;
}

std::string table::joined_title(std::size_t c) const {
  return fmt::format("{}", fmt::join(columns_[c].title, " "));
}

bool table::fits(std::string_view indent, std::size_t most) const {
  return most == kNoLimit || indent.size() + width_of(shown(kNoLimit)) <= most;
}

std::vector<std::string> table::left_out(std::string_view indent, std::size_t most) const {
  if (most == kNoLimit) return {};
  const places there = shown(most - std::min(most, indent.size()));
  std::vector<std::string> titles;
  for (std::size_t c = 0; c < columns_.size(); ++c)
    if (used(c) && std::ranges::find(there, c) == there.end()) titles.push_back(joined_title(c));
  return titles;
}

std::size_t table::title_width(std::size_t c) const {
  std::size_t widest = 0;
  for (const std::string& line : columns_[c].title) widest = std::max(widest, width(line));
  return widest;
}

bool table::wraps(std::size_t c, const places& shown) const {
  return c == shown[0] || columns_[c].align == align::text;
}

std::vector<std::size_t> table::widths_of(const places& shown, std::size_t most) const {
  std::vector<std::size_t> widths;
  for (const std::size_t c : shown) widths.push_back(width_of(c));
  for (std::size_t wide = width_of(shown); wide > most; --wide) {
    std::size_t widest = shown.size();
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const std::size_t least = std::max(kNarrowest, title_width(shown[i]));
      const bool can_shrink = wraps(shown[i], shown) && widths[i] > least;
      if (can_shrink && (widest == shown.size() || widths[i] > widths[widest])) widest = i;
    }
    if (widest == shown.size()) break;
    --widths[widest];
  }
  return widths;
}

void table::write(std::string& out, const places& shown, bool colour, std::string_view indent,
                  std::size_t most) const {
  const std::vector<std::size_t> widths = widths_of(shown, most);
  std::size_t title_lines = 0;
  for (const std::size_t c : shown) title_lines = std::max(title_lines, columns_[c].title.size());
  const std::size_t wide = width_of(shown);
  const bool has_bars = std::ranges::any_of(rows_, [](const row& r) { return r.share > 0; });
  const std::size_t room = most == kNoLimit || wide + kGap > most ? 0 : most - wide - kGap;
  const std::size_t longest = has_bars && room >= kShortestBar ? std::min(room, kLongestBar) : 0;

  const auto add_line = [&](const auto& field_of, double share) {
    std::string text(indent);
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const field f = field_of(i);
      const std::string pad(widths[i] - std::min(widths[i], width(f.text)), ' ');
      const std::string words = styled(f.text, f.style, colour);
      if (i > 0) text.append(kGap, ' ');
      text += columns_[shown[i]].align == align::right ? pad + words : words + pad;
    }
    if (longest > 0)
      text += std::string(kGap, ' ') + styled(bar(share, longest), style::dim, colour);
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + '\n';
  };
  for (std::size_t line = 0; line < title_lines; ++line) {
    add_line(
        [&](std::size_t i) {
          const auto& title = columns_[shown[i]].title;
          // Titles with fewer lines are aligned at the bottom.
          const std::size_t above = title_lines - title.size();
          return field{line < above ? "" : title[line - above], style::dim};
        },
        0);
  }
  for (const row& r : rows_) {
    std::vector<std::vector<std::string>> lines;  // the lines of each column
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const std::string& text = r.fields[shown[i]].text;
      lines.push_back(wraps(shown[i], shown) ? wrapped(text, widths[i]) : std::vector{text});
    }
    // The other fields begin on the name's last line.
    const std::size_t first = lines[0].size() - 1;
    const std::size_t below = std::ranges::max(lines, {}, &std::vector<std::string>::size).size();
    for (std::size_t line = 0; line < first + below; ++line) {
      const auto field_of = [&](std::size_t i) {
        const std::size_t at = i == 0 ? line : line - first;
        const bool there = (i == 0 || line >= first) && at < lines[i].size();
        return there ? field{lines[i][at], r.fields[shown[i]].style} : field{};
      };
      const auto is_used = [&](std::size_t i) { return !field_of(i).text.empty(); };
      bool any = line <= first;
      for (std::size_t i = 0; i < shown.size(); ++i) any = any || is_used(i);
      if (any) add_line(field_of, line == first ? r.share : 0);
    }
  }
}

std::string table::str(bool colour, std::string_view indent, std::size_t most) const {
  const std::size_t room = most == kNoLimit ? most : most - std::min(most, indent.size());
  places left = shown(room);
  std::string out;
  while (!left.empty()) {
    places part = left;
    const auto fits = [&] {
      const std::vector<std::size_t> least = widths_of(part, 0);
      return std::accumulate(least.begin(), least.end(), kGap * (least.size() - 1)) <= room;
    };
    while (part.size() > 2 && !fits()) part.pop_back();
    if (!out.empty()) out += '\n';
    write(out, part, colour, indent, room);
    if (part.size() == left.size()) break;
    left.erase(left.begin() + 1, left.begin() + static_cast<std::ptrdiff_t>(part.size()));
  }
  return out;
}

std::string table::html() const {
  const places there = shown(kNoLimit);
  const auto side = [&](std::size_t c) {
    return columns_[c].align == align::right ? " class=\"right\"" : "";
  };
  std::string out = "<div class=\"scroll\"><table>\n<thead><tr>";
  for (const std::size_t c : there)
    out += fmt::format("<th scope=\"col\"{}>{}</th>", side(c), report::html(joined_title(c)));
  out += "</tr></thead>\n<tbody>\n";
  for (const row& r : rows_) {
    out += "<tr>";
    for (const std::size_t c : there) {
      const std::string text = report::html(r.fields[c].text, r.fields[c].style);
      out += c == there[0] ? fmt::format("<th scope=\"row\">{}</th>", with_breaks(text))
                           : fmt::format("<td{}>{}</td>", side(c), text);
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string table::markdown() const {
  std::vector<std::string> lines(rows_.size() + 2, "|");
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (!used(c)) continue;
    std::vector<std::string> fields{report::markdown(joined_title(c)), ""};
    for (const row& r : rows_)
      fields.push_back(report::markdown(r.fields[c].text, r.fields[c].style));

    const std::size_t widest =
        std::max<std::size_t>(2, width(*std::ranges::max_element(fields, {}, width)));
    const bool left = columns_[c].align != align::right;
    fields[1] = std::string(widest - 1, '-') + (left ? '-' : ':');
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string pad(widest - width(fields[i]), ' ');
      lines[i] += ' ' + (left ? fields[i] + pad : pad + fields[i]) + " |";
    }
  }
  std::string out;
  for (const std::string& line : lines) out += line + '\n';
  return out;
}

}  // namespace kzoo::report
