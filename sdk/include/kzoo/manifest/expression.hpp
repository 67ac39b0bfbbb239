// Integer expressions of a problem's sizes, for the grid of a manifest's launch:
//
//   ceil_div(N, 128) * ceil_div(M, 128)
//
// Operators with C's precedence and truncation: + - * / % and unary -, comparisons, && || and !.
// Also parentheses and ceil_div(a, b), min(a, b, …), max(a, b, …). Numbers are decimal, values
// 64-bit signed; a comparison is 1 or 0. Overflow and division by zero are errors, even right of &&
// and ||, which always compute both sides.
//
// Plain C++ (library kzoo::manifest), without CUDA. Pure, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::manifest {

// An error in an expression or its value. what() is a sentence with the column: "division by zero
// at column 3 of 'M / (N - N)'".
class expression_fault : public std::runtime_error {
 public:
  expression_fault(const std::string& message, std::string_view text, std::size_t position);
  std::size_t position() const { return position_; }  // in the text, from 0

 private:
  std::size_t position_;
};

class expression {
 public:
  // Parses an expression of these variables; keeps none of `names`. Throws expression_fault for a
  // malformed text or an unknown name.
  static expression parse(std::string_view text, std::span<const std::string_view> names);

  // The value for these values of the variables, in the order of the names. Throws expression_fault
  // for overflow and division by zero.
  std::int64_t evaluate(std::span<const std::int64_t> values) const;

  const std::string& text() const { return text_; }
  bool uses(std::size_t variable) const;  // by its index among the names

 private:
  friend class expression_parser;

  enum class operation {
    number,
    variable,
    negate,
    logical_not,
    add,
    subtract,
    multiply,
    divide,
    remainder,
    ceil_div,
    min,
    max,
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    logical_and,
    logical_or
  };
  struct step {
    operation what;
    std::size_t position;  // of the operator in the text
    std::int64_t value;    // a number, or the index of a variable
  };

  std::int64_t apply(const step& s, std::int64_t a, std::int64_t b) const;

  std::string text_;
  std::vector<step> steps_;  // postfix
};

}  // namespace kzoo::manifest
