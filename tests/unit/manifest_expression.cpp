// Expressions of a problem's sizes.

#include "support/catch.hpp"

#include <kzoo/manifest/expression.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

using kzoo::manifest::expression;
using kzoo::manifest::expression_fault;

namespace {

constexpr std::array<std::string_view, 3> kNames{"M", "N", "K"};

std::int64_t value_of(std::string_view text) {
  return expression::parse(text, kNames).evaluate(std::array<std::int64_t, 3>{100, 33, 7});
}

// The words of the fault, "" where there is none.
std::string fault_in(std::string_view text) try {
  value_of(text);
  return "";
} catch (const expression_fault& f) {
  return f.what();
}

}  // namespace

TEST_CASE("expressions have C's precedence and truncation", "[manifest]") {
  CHECK(value_of("42") == 42);
  CHECK(value_of(" M*N + K ") == 3307);
  CHECK(value_of("M + N * K") == 331);
  CHECK(value_of("(M + N) * K") == 931);
  CHECK(value_of("M - N - K") == 60);
  CHECK(value_of("M / N / 2") == 1);
  CHECK(value_of("M % N") == 1);
  CHECK(value_of("-M / 3") == -33);
  CHECK(value_of("-M % 3") == -1);
  CHECK(value_of("--K - -K") == 14);
  CHECK(value_of("9223372036854775807") == INT64_MAX);
}

TEST_CASE("expressions have ceil_div, min and max", "[manifest]") {
  CHECK(value_of("ceil_div(M, 32)") == 4);
  CHECK(value_of("ceil_div(M, 25) * ceil_div(N, 32)") == 8);
  CHECK(value_of("ceil_div(0, 32)") == 0);
  CHECK(value_of("ceil_div(-K, 2)") == -3);
  CHECK(value_of("ceil_div(9223372036854775807, 2)") == 4611686018427387904);
  CHECK(value_of("min(M, N, K)") == 7);
  CHECK(value_of("max(K, min(N, 40))") == 33);
}

TEST_CASE("expressions compare and combine, with C's precedence", "[manifest]") {
  CHECK(value_of("M == 100") == 1);
  CHECK(value_of("M != 100") == 0);
  CHECK(value_of("M*N<=3300") == 1);
  CHECK(value_of("M * N < 3300") == 0);
  CHECK(value_of("N >= 33 && K > 7") == 0);
  CHECK(value_of("N >= 33 || K > 7") == 1);
  CHECK(value_of("1 || 0 && 0") == 1);
  CHECK(value_of("(1 || 0) && 0") == 0);
  CHECK(value_of("1 < 2 == 1") == 1);
  CHECK(value_of("!(M % N) + !0 * 5") == 5);
  CHECK(value_of("(M > N) * 8 + (M < N)") == 8);
  CHECK(value_of("min(M > N, 3)") == 1);
  CHECK(fault_in("M <") == "a missing operand at column 4 of 'M <'");
  CHECK(fault_in("M = 3") == "unexpected '=' at column 3 of 'M = 3'");
  CHECK(fault_in("M & N") == "unexpected '&' at column 3 of 'M & N'");
  CHECK(fault_in("M > 1 || N / (K - 7) > 1").starts_with("division by zero at column 12"));
}

TEST_CASE("text that is no expression is refused with its place", "[manifest]") {
  CHECK(fault_in("") == "a missing operand at column 1 of ''");
  CHECK(fault_in("M +") == "a missing operand at column 4 of 'M +'");
  CHECK(fault_in("M N") == "unexpected 'N' at column 3 of 'M N'");
  CHECK(fault_in("(M") == "a missing ')' at column 3 of '(M'");
  CHECK(fault_in("min(M; N)") == "expected ')', found ';' at column 6 of 'min(M; N)'");
  CHECK(fault_in("M * Q") ==
        "unknown name 'Q' (known: M, N, K, ceil_div, min, max) at column 5 of 'M * Q'");
  CHECK(fault_in("ceil_div(M)") ==
        "a function of two arguments with 1 at column 1 of 'ceil_div(M)'");
  CHECK(fault_in("ceil_div(M, N, K)").starts_with("a function of two arguments with 3"));
  CHECK(fault_in("min(M)").starts_with("a function of two or more arguments with one"));
  CHECK(fault_in("1.5").starts_with("a number that is not whole"));
  CHECK(fault_in("32x").starts_with("a number that is not whole"));
  CHECK(fault_in("9223372036854775808").starts_with("a number that does not fit 64 bits"));
  CHECK(fault_in(std::string(200, '(')).starts_with("too many levels of parentheses"));
  CHECK(fault_in(std::string(200, '-') + "1").starts_with("too many levels of parentheses"));
  CHECK(fault_in(std::string(2000, '1')).starts_with("too long an expression"));
}

TEST_CASE("overflow and division by zero are errors with their place", "[manifest]") {
  CHECK(fault_in("M / (N - 33)") == "division by zero at column 3 of 'M / (N - 33)'");
  CHECK(fault_in("M % 0") == "division by zero at column 3 of 'M % 0'");
  CHECK(fault_in("ceil_div(M, 0)") == "division by zero at column 1 of 'ceil_div(M, 0)'");
  CHECK(fault_in("ceil_div(M, -1)").starts_with("ceil_div by a negative number"));
  CHECK(fault_in("9223372036854775807 + K").starts_with("overflow of 64 bits at column 21"));
  CHECK(fault_in("9223372036854775807 * -2").starts_with("overflow of 64 bits"));
  CHECK(fault_in("-9223372036854775807 - 2").starts_with("overflow of 64 bits"));
  CHECK(fault_in("(-9223372036854775807 - 1) / -1").starts_with("overflow of 64 bits"));
  CHECK(fault_in("(-9223372036854775807 - 1) % -1").starts_with("overflow of 64 bits"));
  CHECK(fault_in("-(-9223372036854775807 - 1)").starts_with("overflow of 64 bits"));
}

TEST_CASE("an expression knows which variables it uses", "[manifest]") {
  const expression e = expression::parse("ceil_div(M, 32) + K", kNames);
  CHECK(e.uses(0));
  CHECK_FALSE(e.uses(1));
  CHECK(e.uses(2));
}
