// What results are compared with.
#include "checks/result_judge.hpp"

#include "support/catch.hpp"

#include <vector>

TEST_CASE("an expected result that was begun is like any other", "[checks]") {
  const kzoo::problem begun = kzoo::sized(33, 20, 70), other = kzoo::sized(20, 33, 70);
  kzoo::checks::expected_results plain;
  for (const std::vector<kzoo::problem>& asked :
       {std::vector{begun, other, begun}, std::vector{other, begun}}) {
    kzoo::checks::expected_results ahead;
    ahead.begin(begun);
    for (const kzoo::problem& p : asked) {
      INFO(kzoo::problem_name(p) << ", begun " << kzoo::problem_name(begun));
      const auto found = ahead.of(p);
      CHECK(found->of() == p);
      CHECK(found->value(7, 5) == plain.of(p)->value(7, 5));
      CHECK(ahead.of(p) == found);
    }
  }
}
