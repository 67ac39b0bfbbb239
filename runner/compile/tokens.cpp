#include "compile/tokens.hpp"

#include "os/text.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace kzoo::compile {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class lexer {
 public:
  explicit lexer(std::string_view source) : source_(source) {}

  std::vector<token> all() {
    while (skip_space()) {
      const std::size_t begin = at_;
      const token_kind kind = skip_token();
      found_.push_back({kind, source_.substr(begin, at_ - begin)});
      begins_line_ = false;
    }
    return std::move(found_);
  }

 private:
  char here(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }
  bool is(std::string_view text) const { return source_.substr(at_).starts_with(text); }
  void skip_past(std::string_view text, std::size_t from) {
    const std::size_t end = source_.find(text, from);
    at_ = end == std::string_view::npos ? source_.size() : end + text.size();
  }

  bool skip_comment() {
    if (is("//"))
      at_ = std::min(source_.find('\n', at_), source_.size());
    else if (is("/*"))
      skip_past("*/", at_ + 2);
    else
      return false;
    return true;
  }

  bool skip_space() {
    constexpr std::string_view kBetweenTokens = " \t\r\n\f\v\\";
    while (at_ < source_.size()) {
      if (skip_comment()) continue;
      if (kBetweenTokens.find(source_[at_]) == std::string_view::npos) return true;
      begins_line_ = begins_line_ || source_[at_] == '\n';
      ++at_;
    }
    return false;
  }

  token_kind skip_token() {
    const char c = here();
    if (c == '#' && begins_line_) return skip_directive();
    if (c == '"' || c == '\'') return skip_literal(c);
    if (is_digit(c) || (c == '.' && is_digit(here(1)))) {
      while (is_in_word(here()) || here() == '.' || (here() == '\'' && is_in_word(here(1)))) ++at_;
      return token_kind::number;
    }
    if (!is_in_word(c)) {
      ++at_;
      return token_kind::symbol;
    }
    const std::size_t begin = at_;
    while (is_in_word(here())) ++at_;
    const std::string_view word = source_.substr(begin, at_ - begin);
    if (here() != '"' || !word.ends_with('R') || word.size() > 3) return token_kind::word;
    const std::size_t open = std::min(source_.find('(', at_), source_.size());
    skip_past(')' + std::string(source_.substr(at_ + 1, open - at_ - 1)) + '"', open);  // R"x(…)x"
    return token_kind::literal;
  }

  token_kind skip_literal(char quote) {
    for (++at_; at_ < source_.size() && here() != quote && here() != '\n'; ++at_)
      if (here() == '\\') ++at_;
    at_ = std::min(at_, source_.size());
    if (here() == quote) ++at_;
    return token_kind::literal;
  }

  token_kind skip_directive() {
    while (at_ < source_.size() && here() != '\n') {
      if (is("/*")) {
        skip_past("*/", at_ + 2);
      } else if (is("//")) {
        at_ = std::min(source_.find('\n', at_), source_.size());
      } else {
        at_ += is("\\\r\n") ? 3 : here() == '\\' ? 2 : 1;
      }
    }
    at_ = std::min(at_, source_.size());
    return token_kind::directive;
  }

  std::string_view source_;
  std::size_t at_ = 0;
  bool begins_line_ = true;
  std::vector<token> found_;
};

}  // namespace

std::vector<token> tokens_of(std::string_view source) { return lexer(source).all(); }

bool opens_group(const token& t) {
  return t.kind == token_kind::symbol && (t.text == "(" || t.text == "[" || t.text == "{");
}

std::optional<std::size_t> end_of_group(token_list all, std::size_t begin) {
  int depth = 0;
  std::vector<int> at_if;
  for (std::size_t at = begin; at < all.size(); ++at) {
    const token& t = all[at];
    if (t.kind == token_kind::directive) {
      const std::string_view what = trimmed(t.text.substr(1));
      if (what.starts_with("if")) at_if.push_back(depth);
      if (what.starts_with("el") && at_if.empty()) return at;
      if (what.starts_with("el")) depth = at_if.back();
      if (what.starts_with("endif") && !at_if.empty()) at_if.pop_back();
    } else if (opens_group(t)) {
      ++depth;
    } else if ((t.text == ")" || t.text == "]" || t.text == "}") && --depth == 0) {
      return at + 1;
    }
  }
  return std::nullopt;
}

}  // namespace kzoo::compile
