#pragma once
// The declarations at the top of a source file and of its namespaces, found without a compiler: of
// a file whose headers are not here, too.

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::source {

// C++ divided into tokens, as far as one has to know to find declarations in it.

enum class token_kind : unsigned char { word, number, literal, symbol, directive };

struct token {
  token_kind kind;
  std::string_view text;  // a part of the source
};
using token_list = std::span<const token>;

// All but spaces and comments. A symbol is one character; a directive is what stands from '#' to
// the end of its line, or of the last one that it goes on in.
std::vector<token> tokens_of(std::string_view source);

// Past the bracket that closes the group at `begin`, if there is such a bracket. Of the branches of
// an #if the last counts. The #else of an #if before `begin` ends the group.
std::optional<std::size_t> end_of_group(token_list all, std::size_t begin);

struct macro {
  std::vector<token> body;
  bool has_parameters = false;
};
using macros = std::map<std::string_view, macro>;
macros macros_in(const std::vector<token>& file);

struct source_item {
  std::size_t first = 0, last = 0;  // tokens, the last one not included
  // Too many rather than too few; none: it has none, or a macro makes them.
  std::vector<std::string_view> names{};
  bool is_marked = false;  // as the device's, or as a constant
  bool is_function = false;
  bool is_operator = false;
  bool has_body = false;
};

struct source_items {
  std::vector<source_item> all;
  const token* open = nullptr;  // a bracket that has no end
};
source_items items_in(const std::vector<token>& file, const macros& known);

// A source with parts of it replaced, whose lines keep their numbers.

class edited_text {
 public:
  explicit edited_text(std::string_view source) : source_(source) {}

  std::size_t begin_of(const token& t) const {
    return static_cast<std::size_t>(t.text.data() - source_.data());
  }
  std::size_t end_of(const token& t) const { return begin_of(t) + t.text.size(); }
  unsigned line_of(std::size_t at) const;

  // In the order of the source. `line_end`: what ends the lines that are replaced.
  void replace(std::size_t begin, std::size_t end, std::string_view by,
               std::string_view line_end = "\n");
  std::string_view between(std::size_t begin, std::size_t end) const {
    return source_.substr(begin, end - begin);
  }
  std::string text() const { return text_ + std::string(source_.substr(copied_)); }

 private:
  std::string_view source_;
  std::string text_;
  std::size_t copied_ = 0;
};

// Makes `extern __shared__ T x[];`, if it begins here, what the simulator has. Returns its last
// token, or `at`.
std::size_t replace_dynamic_shared(std::span<const token> tokens, std::size_t at,
                                   edited_text& text);
// The source, with each of them so.
std::string with_dynamic_shared(std::string_view source);

}  // namespace kzoo::source
