#include <kzoo/manifest/expression.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

namespace kzoo::manifest {
namespace {

constexpr std::size_t kLongest = 1000;  // characters
constexpr int kDeepest = 50;            // parentheses, calls and signs

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

}  // namespace

expression_fault::expression_fault(const std::string& message, std::string_view text,
                                   std::size_t position)
    : std::runtime_error(message + " at column " + std::to_string(position + 1) + " of '" +
                         std::string(text) + "'"),
      position_(position) {}

// Recursive descent, a function for each level of precedence.
class expression_parser {
 public:
  expression_parser(std::string_view text, std::span<const std::string_view> names)
      : text_(text), names_(names) {
    result_.text_ = text;
  }

  expression take() {
    if (text_.size() > kLongest) throw expression_fault("too long an expression", "", 0);
    whole();
    if (next() != '\0') refuse(std::string("unexpected '") + next() + "'");
    return std::move(result_);
  }

 private:
  using operation = expression::operation;

  [[noreturn]] void refuse(const std::string& message) const { refuse(message, at_); }
  [[noreturn]] void refuse(const std::string& message, std::size_t where) const {
    throw expression_fault(message, text_, where);
  }

  // The next character other than a space; '\0' at the end.
  char next() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  void expect(char c) {
    if (next() != c) {
      refuse(at_ < text_.size() ? std::string("expected '") + c + "', found '" + text_[at_] + "'"
                                : std::string("a missing '") + c + "'");
    }
    ++at_;
  }

  void add(operation what, std::size_t where, std::int64_t value = 0) {
    result_.steps_.push_back({what, where, value});
  }

  // Takes the operator if it comes next. "<" is not the beginning of "<=".
  bool take_operator(std::string_view op) {
    next();
    const std::string_view rest = text_.substr(at_);
    const bool goes_on = op.size() == 1 && rest.size() > 1 && rest[1] == '=';
    if (!rest.starts_with(op) || goes_on) return false;
    at_ += op.size();
    return true;
  }

  struct binary_operator {
    std::string_view text;
    operation what;
  };

  // Parses operators of one precedence, each between two results of `operand`.
  template <std::size_t kCount>
  void chain(const std::array<binary_operator, kCount>& operators,
             void (expression_parser::*operand)()) {
    (this->*operand)();
    for (bool found = true; found;) {
      found = false;
      for (const auto& [text, what] : operators) {
        next();
        const std::size_t where = at_;
        if (!take_operator(text)) continue;
        (this->*operand)();
        add(what, where);
        found = true;
        break;
      }
    }
  }

  void whole() {
    chain(std::array{binary_operator{"||", operation::logical_or}}, &expression_parser::both);
  }
  void both() {
    chain(std::array{binary_operator{"&&", operation::logical_and}}, &expression_parser::equality);
  }
  void equality() {
    chain(std::array{binary_operator{"==", operation::equal},
                     binary_operator{"!=", operation::not_equal}},
          &expression_parser::relation);
  }
  void relation() {
    chain(
        std::array{binary_operator{"<=", operation::less_equal},
                   binary_operator{">=", operation::greater_equal},
                   binary_operator{"<", operation::less}, binary_operator{">", operation::greater}},
        &expression_parser::sum);
  }

  void sum() {
    product();
    while (next() == '+' || next() == '-') {
      const std::size_t where = at_++;
      product();
      add(text_[where] == '+' ? operation::add : operation::subtract, where);
    }
  }

  void product() {
    factor();
    while (next() == '*' || next() == '/' || next() == '%') {
      const std::size_t where = at_++;
      factor();
      add(text_[where] == '*'   ? operation::multiply
          : text_[where] == '/' ? operation::divide
                                : operation::remainder,
          where);
    }
  }

  void factor() {
    if (++depth_ > kDeepest) refuse("too many levels of parentheses");
    const char c = next();
    const std::size_t where = at_;
    if (c == '-' || c == '!') {
      ++at_;
      factor();
      add(c == '-' ? operation::negate : operation::logical_not, where);
    } else if (c == '(') {
      ++at_;
      whole();
      expect(')');
    } else if (is_digit(c)) {
      number();
    } else if (is_name(c)) {
      name();
    } else {
      refuse(c == '\0' ? "a missing operand" : std::string("unexpected '") + c + "'");
    }
    --depth_;
  }

  void number() {
    const std::size_t where = at_;
    std::int64_t value = 0;
    const char* const end = text_.data() + text_.size();
    const auto [stop, fault] = std::from_chars(text_.data() + at_, end, value);
    if (fault != std::errc{}) refuse("a number that does not fit 64 bits");
    at_ = static_cast<std::size_t>(stop - text_.data());
    if (stop != end && (is_name(*stop) || *stop == '.')) refuse("a number that is not whole");
    add(operation::number, where, value);
  }

  void name() {
    const std::size_t where = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    const std::string_view word = text_.substr(where, at_ - where);
    if (word == "ceil_div") return call(operation::ceil_div, where, 2);
    if (word == "min") return call(operation::min, where, 0);
    if (word == "max") return call(operation::max, where, 0);
    const auto found = std::ranges::find(names_, word);
    if (found == names_.end()) {
      std::string known;
      for (const std::string_view n : names_) known += std::string(n) + ", ";
      refuse("unknown name '" + std::string(word) + "' (known: " + known + "ceil_div, min, max)",
             where);
    }
    add(operation::variable, where, found - names_.begin());
  }

  // The arguments of a function: `count`, or two and more if `count` is 0.
  void call(operation what, std::size_t where, std::size_t count) {
    expect('(');
    whole();
    std::size_t given = 1;
    while (next() == ',') {
      ++at_;
      whole();
      ++given;
      add(what, where);
    }
    expect(')');
    if (given < 2 || (count != 0 && given != count)) {
      refuse(count == 0 ? "a function of two or more arguments with one"
                        : "a function of two arguments with " + std::to_string(given),
             where);
    }
  }

  std::string_view text_;
  std::span<const std::string_view> names_;
  std::size_t at_ = 0;
  int depth_ = 0;
  expression result_;
};

expression expression::parse(std::string_view text, std::span<const std::string_view> names) {
  return expression_parser(text, names).take();
}

bool expression::uses(std::size_t variable) const {
  return std::ranges::any_of(steps_, [&](const step& s) {
    return s.what == operation::variable && static_cast<std::size_t>(s.value) == variable;
  });
}

std::int64_t expression::apply(const step& s, std::int64_t a, std::int64_t b) const {
  const auto refuse = [&](const char* message) {
    throw expression_fault(message, text_, s.position);
  };
  constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
  std::int64_t result = 0;
  bool overflow = false;
  switch (s.what) {
    case operation::number: return s.value;
    case operation::variable: break;  // evaluate() has its value
    case operation::negate: overflow = __builtin_sub_overflow(std::int64_t{0}, a, &result); break;
    case operation::logical_not: return a == 0;
    case operation::equal: return a == b;
    case operation::not_equal: return a != b;
    case operation::less: return a < b;
    case operation::less_equal: return a <= b;
    case operation::greater: return a > b;
    case operation::greater_equal: return a >= b;
    case operation::logical_and: return a != 0 && b != 0;
    case operation::logical_or: return a != 0 || b != 0;
    case operation::add: overflow = __builtin_add_overflow(a, b, &result); break;
    case operation::subtract: overflow = __builtin_sub_overflow(a, b, &result); break;
    case operation::multiply: overflow = __builtin_mul_overflow(a, b, &result); break;
    case operation::divide:
    case operation::remainder:
      if (b == 0) refuse("division by zero");
      overflow = a == kLowest && b == -1;
      if (!overflow) result = s.what == operation::divide ? a / b : a % b;
      break;
    case operation::ceil_div:
      if (b == 0) refuse("division by zero");
      if (b < 0) refuse("ceil_div by a negative number");
      return a / b + (a % b > 0 ? 1 : 0);
    case operation::min: return std::min(a, b);
    case operation::max: return std::max(a, b);
  }
  if (overflow) refuse("overflow of 64 bits");
  return result;
}

std::int64_t expression::evaluate(std::span<const std::int64_t> values) const {
  std::vector<std::int64_t> stack;
  for (const step& s : steps_) {
    if (s.what == operation::variable) {
      stack.push_back(values[static_cast<std::size_t>(s.value)]);
      continue;
    }
    std::int64_t b = 0;
    const bool is_unary = s.what == operation::negate || s.what == operation::logical_not;
    if (s.what != operation::number && !is_unary) {
      b = stack.back();
      stack.pop_back();
    }
    if (s.what == operation::number) {
      stack.push_back(s.value);
    } else {
      stack.back() = apply(s, stack.back(), b);
    }
  }
  return stack.back();
}

}  // namespace kzoo::manifest
