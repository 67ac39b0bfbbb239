#include "report/table.hpp"

#include "core/printable.hpp"

#include <algorithm>
#include <sstream>

namespace kzoo::report {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(printable(line));
  return lines;
}

}  // namespace

void table::add_column(const std::string& title, align a) {
  columns_.push_back({lines_of(title), a});
}

void table::add_row(std::vector<field> fields) {
  fields.resize(columns_.size());
  for (field& f : fields) f.text = printable(f.text);  // before its width counts
  rows_.push_back(std::move(fields));
}

bool table::used(std::size_t c) const {
  return std::ranges::any_of(rows_, [=](const auto& row) { return !row[c].text.empty(); });
}

std::string table::str(bool colour, std::string_view indent) const {
  std::vector<std::size_t> widths(columns_.size());
  std::size_t title_lines = 0;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    for (const auto& row : rows_) widths[c] = std::max(widths[c], width(row[c].text));
    if (!used(c)) continue;
    for (const std::string& line : columns_[c].title) widths[c] = std::max(widths[c], width(line));
    title_lines = std::max(title_lines, columns_[c].title.size());
  }

  std::string out;
  const auto add_line = [&](const auto& field_of) {
    std::string text(indent);
    std::string_view gap;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (widths[c] == 0) continue;
      const field f = field_of(c);
      const std::string pad(widths[c] - width(f.text), ' ');
      const std::string shown = styled(f.text, f.style, colour);
      text += gap;
      text += columns_[c].align == align::left ? shown + pad : pad + shown;
      gap = "  ";
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + '\n';
  };
  for (std::size_t i = 0; i < title_lines; ++i) {
    add_line([&](std::size_t c) {
      const auto& title = columns_[c].title;
      // Titles with fewer lines are aligned at the bottom.
      const std::size_t above = title_lines - title.size();
      return field{i < above ? "" : title[i - above], style::dim};
    });
  }
  for (const auto& row : rows_) add_line([&](std::size_t c) { return row[c]; });
  return out;
}

std::string table::markdown() const {
  std::vector<std::string> lines(rows_.size() + 2, "|");
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (!used(c)) continue;
    std::string title;
    for (const std::string& line : columns_[c].title) title += (title.empty() ? "" : " ") + line;
    std::vector<std::string> fields{report::markdown(title), ""};
    for (const auto& row : rows_) fields.push_back(report::markdown(row[c].text, row[c].style));

    const std::size_t widest =
        std::max<std::size_t>(2, width(*std::ranges::max_element(fields, {}, width)));
    const bool left = columns_[c].align == align::left;
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
