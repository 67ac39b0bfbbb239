#pragma once
// The output medium of a report: plain text, a terminal, GitHub's Markdown, or HTML. The functions
// that write a report only supply its contents; the page formats them.

#include "report/table.hpp"
#include "report/text.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kzoo::report {

enum class medium { text, terminal, markdown, html };

// The order of the kernels in the table of a problem: that of the run; the fastest first, by its
// speedup or by its time; alphabetical.
enum class sort_key { none, speedup, time, name };

// How a report is shown, and what of it.
struct view {
  report::medium medium = medium::text;
  std::size_t columns = kNoLimit;  // of the terminal
  bool simulator_times = false;    // how long simulations took, too
  sort_key sort = sort_key::none;

  view() = default;
  view(report::medium m, std::size_t most = kNoLimit, bool simulated = false,
       sort_key order = sort_key::none)
      : medium(m), columns(most), simulator_times(simulated), sort(order) {}
};

class page {
 public:
  explicit page(const view& v) : view_(v) {}
  bool is_markdown() const { return view_.medium == medium::markdown; }
  bool is_html() const { return view_.medium == medium::html; }
  // Whether lines have to fit a terminal.
  bool is_narrow() const { return view_.columns != kNoLimit; }
  const report::view& view() const { return view_; }

  // A line of its own: `words` highlighted, then the rest.
  void line(std::string_view words, style s, std::string_view rest = {});
  // A remark on what precedes it.
  void item(std::string_view text) { item("", style::plain, text); }
  void item(std::string_view words, style s, std::string_view rest);
  // Says once which columns do not fit.
  void add(const table& t);
  bool has_room_for(const table& t) const;
  // Preformatted lines that belong to the preceding item. In HTML they are opened by a click on the
  // first one if `folded`.
  void verbatim(const std::vector<std::string>& lines, bool folded = false);
  // Ends the section that the last line() began; what follows is set apart.
  void end_section();

  // Returns and clears what has been written since the last take().
  std::string take();

 private:
  enum class block { none, line, item, table };
  std::string shown(std::string_view text, style s) const;
  void begin(block next);
  void add_prose(std::string_view indent, std::string_view words, style s, std::string_view rest);

  report::view view_;
  bool told_ = false;  // that columns do not fit
  block last_ = block::none;
  std::string text_;
};

}  // namespace kzoo::report
