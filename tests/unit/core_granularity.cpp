// The sizes that a variant says it takes.

#include "core/problem.hpp"

#include "support/catch.hpp"

using namespace kzoo;

TEST_CASE("a problem breaks a granularity where a size is no multiple of it", "[problem]") {
  const problem p = sized(512, 510, 96);
  CHECK_FALSE(broken_by({}, p));
  CHECK_FALSE(broken_by({512, 255, 32, 1}, p));
  CHECK(broken_by({999983, 1, 1, 1}, p) == "M a multiple of 999983, not 512");
  CHECK(broken_by({1, 4, 1, 1}, p) == "N a multiple of 4, not 510");
  CHECK(broken_by({1, 1, 64, 1}, p) == "K a multiple of 64, not 96");
  CHECK_FALSE(broken_by({1, 1, 1, 8}, p));
  CHECK(broken_by({1, 1, 1, 16}, p) == "the bytes from row to row of B a multiple of 16, not 2040");
}

TEST_CASE("rows are counted as they are stored, and one row is aligned as its matrix",
          "[problem]") {
  problem p = sized(1, 512, 510);
  CHECK_FALSE(broken_by({1, 1, 1, 16}, p));
  p.m = 2;
  CHECK(broken_by({1, 1, 1, 16}, p) == "the bytes from row to row of A a multiple of 16, not 2040");
  p.layout = layout::tn;
  CHECK(broken_by({1, 1, 1, 16}, p) == "the bytes from row to row of A a multiple of 16, not 8");
  problem weights = sized(2, 512, 512, {KZOO_F16, KZOO_I4, KZOO_F16});
  CHECK_FALSE(broken_by({1, 1, 1, 256}, weights));
  CHECK(broken_by({1, 1, 1, 512}, weights) ==
        "the bytes from row to row of B a multiple of 512, not 256");
}

TEST_CASE("a problem that is rounded up keeps a granularity", "[problem]") {
  const size_granularity g{32, 24, 16, 64};
  for (const layout given : kLayouts) {
    for (const element_types& types : kElementTypes) {
      problem p = sized(33, 25, 17, types);
      p.layout = given;
      p.padding = 3;
      p.batch = 2;
      p.batch_padding = 5;
      for (const size_granularity& each : {g, both_of(g, {1, 1, 48, 128})}) {
        INFO(problem_name(rounded_up(p, each)));
        CHECK_FALSE(broken_by(each, rounded_up(p, each)));
      }
    }
  }
}
