#pragma once
// The output medium of a report: plain text, a terminal, or GitHub's Markdown. The functions that
// write a report only supply its contents; the page formats them.

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

  // A line of its own: `words` highlighted, then the rest.
  void line(std::string_view words, style s, std::string_view rest = {});
  // A remark on what precedes it.
  void item(std::string_view text) { item("", style::plain, text); }
  void item(std::string_view words, style s, std::string_view rest);
  void add(const table& t);
  // Preformatted lines that belong to the preceding item.
  void verbatim(const std::vector<std::string>& lines);
  // Ends the section that the last line() began; what follows is set apart.
  void end_section();

  // Returns and clears what has been written since the last take().
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
