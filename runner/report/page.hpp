#pragma once
// What reports are written on: plain text, a terminal, or Markdown as GitHub reads it. The parts of
// a report say what there is; how it looks is decided here.

#include "report/table.hpp"
#include "report/text.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kzoo::report {

enum class medium { text, terminal, markdown };

class page {
 public:
  explicit page(medium m) : medium_(m) {}
  bool is_markdown() const { return medium_ == medium::markdown; }

  // A line of its own: a few words that stand out, then the rest.
  void line(std::string_view words, style s, std::string_view rest = {});
  // A remark on what stands above it.
  void item(std::string_view text) { item("", style::plain, text); }
  void item(std::string_view words, style s, std::string_view rest);
  void add(const table& t);
  // Lines that belong to the item above, as they are.
  void verbatim(const std::vector<std::string>& lines);
  // Nothing more belongs to the last line(); what comes next stands apart.
  void end_part();

  // All that has been written since the last take().
  std::string take();

 private:
  enum class block { none, line, item, table };
  std::string shown(std::string_view text, style s) const;
  void begin(block next);

  medium medium_;
  block last_ = block::none;
  std::string text_;
};

}  // namespace kzoo::report
