#pragma once
// Finds the declarations of a source file, at its top level and in its namespaces, without a
// compiler: the headers that the file includes may be missing.

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::source {

enum class token_kind : unsigned char { word, number, literal, symbol, directive };

struct token {
  token_kind kind;
  std::string_view text;  // a part of the source
};
using token_list = std::span<const token>;

// The tokens of C++, without spaces and comments. A symbol is one character. A directive reaches
// from its '#' to the end of the line, or of the last line that a backslash continues it in.
std::vector<token> tokens_of(std::string_view source);

// The token after the bracket that closes the group at `begin`; nothing if no bracket closes it. An
// #if in the group counts with its last branch. The #else of an #if before `begin` ends the group.
std::optional<std::size_t> end_of_group(token_list all, std::size_t begin);

struct macro {
  std::vector<token> body;
  bool has_parameters = false;
};
using macros = std::map<std::string_view, macro>;
macros macros_in(const std::vector<token>& file);

struct source_item {
  std::size_t first = 0, last = 0;  // tokens [first, last)
  // The declared names, and possibly others. Empty if there are none, or if a macro pastes them.
  std::vector<std::string_view> names{};
  bool is_marked = false;  // it has __global__, __device__, const or a similar mark (kMarks)
  bool is_function = false;
  bool is_operator = false;
  bool has_body = false;
};

struct source_items {
  std::vector<source_item> all;
  const token* open = nullptr;  // the first bracket without an end; null: none
};
// `known`: the macros of the file and of its headers.
source_items items_in(const std::vector<token>& file, const macros& known);

// A source with replaced parts. Its lines keep their numbers.
class edited_text {
 public:
  explicit edited_text(std::string_view source) : source_(source) {}

  std::size_t begin_of(const token& t) const {
    return static_cast<std::size_t>(t.text.data() - source_.data());
  }
  std::size_t end_of(const token& t) const { return begin_of(t) + t.text.size(); }
  unsigned line_of(std::size_t at) const;

  // Replaces [begin, end), which follows the part replaced before. Each line break in it stays, as
  // `line_end`.
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

// Replaces `extern __shared__ T x[];`, if it begins at token `at`, by the simulator's declaration.
// Returns the statement's last token, or `at`.
std::size_t replace_dynamic_shared(std::span<const token> tokens, std::size_t at,
                                   edited_text& text);
// The source with all of these replaced.
std::string with_dynamic_shared(std::string_view source);

}  // namespace kzoo::source
