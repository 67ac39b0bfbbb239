#pragma once
// Formats tables as text and as Markdown.

#include "report/text.hpp"

#include <initializer_list>
#include <string>
#include <vector>

namespace kzoo::report {

class table {
 public:
  // text: left, and where the table is too wide it wraps.
  enum class align { left, right, text };
  struct field {
    std::string text;
    report::style style = style::plain;
  };

  // A title may have several lines. Where the table is too wide, the columns with the highest
  // `rank` leave it first; those of rank 0 stay.
  void add_column(const std::string& title, align a = align::right, int rank = 0);
  void add_columns(std::initializer_list<std::string> titles, align a = align::right);
  // At most as many fields as there are columns; missing ones stay empty. `share`, from 0 to 1, is
  // the length of the row's bar, for which there may be room at its end.
  void add_row(std::vector<field> fields, double share = 0);
  std::size_t rows() const { return rows_.size(); }
  // Empty columns are left out. Every line starts with `indent`. A table that is wider than
  // `most` loses columns; then the first one wraps, and those of text; and what is still too much
  // follows below, with the first column again.
  std::string str(bool colour, std::string_view indent = "  ", std::size_t most = kNoLimit) const;
  // Whether it is no wider, with all columns.
  bool fits(std::string_view indent, std::size_t most) const;
  // The titles of the columns that leave.
  std::vector<std::string> left_out(std::string_view indent, std::size_t most) const;
  // The table in GitHub's Markdown.
  std::string markdown() const;
  // An HTML table; the column of names is its heading.
  std::string html() const;

 private:
  struct column {
    std::vector<std::string> title;  // its lines
    table::align align;
    int rank;
  };
  struct row {
    std::vector<field> fields;
    double share;
  };
  using places = std::vector<std::size_t>;  // of columns
  bool used(std::size_t c) const;           // whether column c is not empty
  std::size_t title_width(std::size_t c) const;
  std::size_t width_of(std::size_t c) const;
  std::size_t width_of(const places& shown) const;
  bool wraps(std::size_t c, const places& shown) const;
  // Of each column, in a table that is no wider than `most` as far as its columns can wrap.
  std::vector<std::size_t> widths_of(const places& shown, std::size_t most) const;
  places shown(std::size_t most) const;
  std::string joined_title(std::size_t c) const;
  void write(std::string& out, const places& shown, bool colour, std::string_view indent,
             std::size_t most) const;

  std::vector<column> columns_;
  std::vector<row> rows_;
};

}  // namespace kzoo::report
