#pragma once

#include "report/csv.hpp"

#include <string>
#include <utility>

namespace kzoo::html {

// Lines below each other, with the names of the columns once.
class csv_table {
 public:
  void add(const report::csv_line& l) {
    if (text_.empty()) text_ = l.names();
    text_ += l.values();
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace kzoo::html
