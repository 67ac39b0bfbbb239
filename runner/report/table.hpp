#pragma once
// Formats tables as text and as Markdown.

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
  void add_column(const std::string& title, align a = align::right);
  // At most as many fields as there are columns; missing ones stay empty.
  void add_row(std::vector<field> fields);
  std::size_t rows() const { return rows_.size(); }
  // Empty columns are left out. Every line starts with `indent`.
  std::string str(bool colour, std::string_view indent = "  ") const;
  // The table in GitHub's Markdown.
  std::string markdown() const;

 private:
  struct column {
    std::vector<std::string> title;  // its lines
    table::align align;
  };
  bool used(std::size_t c) const;  // whether column c is not empty

  std::vector<column> columns_;
  std::vector<std::vector<field>> rows_;
};

}  // namespace kzoo::report
