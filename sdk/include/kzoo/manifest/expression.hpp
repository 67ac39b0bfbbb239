// Integer expressions of a problem's sizes, as manifests give the grid of a launch:
//
//   ceil_div(N, 128) * ceil_div(M, 128)
//
// Operators: + - * / % and unary -, comparisons, && || and !, with C's precedence and C's
// truncation; parentheses; ceil_div(a, b), min(a, b, …), max(a, b, …). Numbers are decimal, values
// 64-bit signed; a comparison is 1 or 0. Overflow and division by zero are errors, also on the
// right of && and ||, both sides of which are always computed.
//
// Plain C++, the library kzoo::manifest; no CUDA. Pure, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::manifest {

// What is wrong with an expression, or with its value. what() is a sentence that names the column:
// "division by zero at column 3 of 'M / (N - N)'".
class expression_fault : public std::runtime_error {
 public:
  expression_fault(const std::string& message, std::string_view text, std::size_t position);
  std::size_t position() const { return position_; }  // in the text, from 0

 private:
  std::size_t position_;
};

class expression {
 public:
  // An expression of these variables, of whose names nothing is kept. Throws expression_fault for
  // text that is none, and for a name that is not among them.
  static expression parse(std::string_view text, std::span<const std::string_view> names);

  // The value, where the variables have these values, in the order of the names. Throws
  // expression_fault for overflow and for a division by zero.
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
