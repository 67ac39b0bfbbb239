#pragma once
// A source with parts of it replaced, whose lines keep their numbers.

#include "compile/tokens.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace kzoo::compile {

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

}  // namespace kzoo::compile
