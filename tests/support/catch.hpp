// Catch2, whether 2.13 or 3.x is installed.
#pragma once

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
using Catch::Approx;
namespace kzoo::test {
using Catch::Matchers::ContainsSubstring;
}
#else
#include <catch2/catch.hpp>
namespace kzoo::test {
inline auto ContainsSubstring(const std::string& text) { return Catch::Matchers::Contains(text); }
}  // namespace kzoo::test
#endif
