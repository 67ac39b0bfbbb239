#pragma once
// The one writer of text tables.

#include "report/text.hpp"

#include <string>
#include <vector>

namespace kzoo::report {

class table {
 public:
  enum class align { left, right };
  struct field {
    std::string text;
    report::style style = style::plain;
  };

  // A title may have several lines.
  void add_column(std::string title, align a = align::right);
  // As many fields as there are columns, or fewer: the rest stays empty.
  void add_row(std::vector<field> fields);
  std::size_t rows() const { return rows_.size(); }
  // Columns in which no row has anything are left out. Every line starts with `indent`.
  std::string str(bool colour, std::string_view indent = "  ") const;
  // The same as a table of GitHub's Markdown.
  std::string markdown() const;

 private:
  struct column {
    std::vector<std::string> title;  // its lines
    table::align align;
  };
  bool used(std::size_t c) const;  // some row has something in column c

  std::vector<column> columns_;
  std::vector<std::vector<field>> rows_;
};

}  // namespace kzoo::report
