#pragma once
// CSV: RFC 4180, but with \n as line end.

#include "os/output.hpp"
#include "report/page.hpp"
#include "results/document.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kzoo::report {

// Values with the names of their columns.
class csv_line {
 public:
  void add(std::string_view column, std::string_view value);
  // With enough digits to be read back exactly; empty if it is not finite.
  void number(std::string_view column, double value);
  template <class T>
  void number(std::string_view column, T value) {
    add(column, std::to_string(value));
  }

  // The columns of another line whose names `wanted` holds for.
  void append(const csv_line& other, const std::function<bool(std::string_view)>& wanted);

  // Both end with a line break.
  std::string names() const { return joined(&field::first); }
  std::string values() const { return joined(&field::second); }

 private:
  using field = std::pair<std::string, std::string>;
  std::string joined(std::string field::*part) const;
  std::vector<field> fields_;
};

// Lines below each other, with the names of the columns once.
class csv_table {
 public:
  void add(const csv_line& l) {
    if (text_.empty()) text_ = l.names();
    text_ += l.values();
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// Everything of a cell that has a column.
csv_line line_of(const results::document& d, const results::cell& c);

// One line for each cell, in that order for each problem, below a line with the columns' names.
// Numbers are written with enough digits to be read back exactly; unknown values are empty.
void write_csv(const results::document& d, sort_key order, const text_sink& out);

}  // namespace kzoo::report
