#pragma once
// The layout of a report: its text, its tables, and the page with both, for each medium.

#include <fmt/format.h>

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kzoo::report {

enum class style { plain, good, bad, dim, bold };

// The text, safe for a terminal (os/text.hpp), coloured (os/output.hpp) if `colour`.
std::string styled(std::string_view words, style s, bool colour);

// The text for Markdown: markup is escaped, line breaks become spaces, and the styles bad and bold
// are set in bold.
std::string markdown(std::string_view words, style s = style::plain);

// The text for HTML, in an element or an attribute between quotes.
std::string html(std::string_view words, style s = style::plain);

// The beginning of the text, safe for a terminal, that is at most so wide.
std::string shortened(std::string_view text, std::size_t most);

// A name in lines of at most that width, broken after one of ":_@, " where that is possible.
std::vector<std::string> wrapped(std::string_view name, std::size_t most);

// Prose in lines of at most that width, broken at spaces; a longer word has a line of its own. Safe
// for a terminal.
std::vector<std::string> folded(std::string_view text, std::size_t most);
// The width of prose in files and pipes, where tables have no limit.
inline constexpr std::size_t kWidestProse = 300;

// Appends to a list: "1 pass, 2 wrong".
void add_item(std::string& list, std::string_view item);

// The first `most` names: "a, b, c and 2 more".
std::string some_of(std::vector<std::string> names, std::size_t most);

// No limit to the width of lines, as in files and pipes.
inline constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

// The width on a terminal: characters, not bytes.
std::size_t width(std::string_view utf8);

class table {
 public:
  // text: left, and where the table is too wide it wraps.
  enum class align { left, right, text };
  struct field {
    std::string text;
    report::style style;
    field(std::string words = "", report::style s = style::plain)
        : text(std::move(words)), style(s) {}
  };

  // Adds a column; its title may have several lines. If the table is too wide, columns with the
  // highest `rank` are dropped first; columns of rank 0 stay.
  void add_column(const std::string& title, align a = align::right, int rank = 0);
  // Adds a row of at most as many fields as there are columns; missing fields stay empty. `share`,
  // from 0 to 1, is the length of the row's bar, which is drawn if there is room.
  void add_row(std::vector<field> fields, double share = 0);
  // A field with its column, as in add_column().
  struct entry {
    std::string title;
    table::field field;
    table::align align = table::align::right;
    int rank = 0;
  };
  // Adds a row; the first row's entries define the columns.
  void add_entries(const std::vector<entry>& entries, double share = 0);
  std::size_t rows() const { return rows_.size(); }
  // The table as text. Empty columns are left out. Every line starts with `indent`. If the table is
  // wider than `most`, it loses columns; then the first column and text columns wrap; the remaining
  // columns follow below, with the first column repeated.
  std::string str(bool colour, std::string_view indent = "  ", std::size_t most = kNoLimit) const;
  // Whether the table with all columns is no wider than `most`.
  bool fits(std::string_view indent, std::size_t most) const;
  // The titles of the columns that str() leaves out.
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
  using places = std::vector<std::size_t>;  // the columns' places
  bool used(std::size_t c) const;           // whether column c is not empty
  std::size_t title_width(std::size_t c) const;
  std::size_t width_of(std::size_t c) const;
  std::size_t width_of(const places& shown) const;
  bool wraps(std::size_t c, const places& shown) const;
  // The columns' widths, in a table no wider than `most` as far as its columns can wrap.
  std::vector<std::size_t> widths_of(const places& shown, std::size_t most) const;
  places shown(std::size_t most) const;
  std::string joined_title(std::size_t c) const;
  void write(std::string& out, const places& shown, bool colour, std::string_view indent,
             std::size_t most) const;

  std::vector<column> columns_;
  std::vector<row> rows_;
};

enum class medium { text, terminal, markdown, html };

// The order of kernels in a problem's table: as in the run; by speedup or time, fastest first;
// alphabetical.
enum class sort_key { none, speedup, time, name };

// Form and content of a report.
struct view {
  report::medium medium = medium::text;
  std::size_t columns = kNoLimit;  // the terminal's width
  bool simulator_times = false;    // also shows how long simulations took
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

  // A line of its own: `words` highlighted, then the rest, also as for fmt::format().
  void line(std::string_view words, style s, std::string_view rest = {});
  template <class First, class... Rest>
  void line(std::string_view words, style s, fmt::format_string<First, Rest...> format,
            First&& first, Rest&&... rest) {
    line(words, s, fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...));
  }
  // A remark on what precedes it.
  void item(std::string_view text) { item("", style::plain, text); }
  void item(std::string_view words, style s, std::string_view rest);
  template <class First, class... Rest>
  void item(std::string_view words, style s, fmt::format_string<First, Rest...> format,
            First&& first, Rest&&... rest) {
    item(words, s, fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...));
  }
  // Adds the table, and once the names of the columns that do not fit.
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
