// Groups of rows: where they begin, right results pass, and mistakes are named with their group.
#include "core/operands.hpp"
#include "data/matrix.hpp"
#include "reference/expected_result.hpp"
#include "support/catch.hpp"
#include "unit/reference_samples.hpp"

#include <array>
#include <set>
#include <vector>

using namespace kzoo;
using namespace kzoo::samples;
using test::ContainsSubstring;

namespace {

problem grouped(std::int64_t count, data::group_rows how, const element_types& types = {}) {
  problem p = sized(40, 10, 8, types);
  p.groups = count;
  p.group_rows = how;
  return p;
}

std::vector<std::int64_t> sizes_of_groups(const problem& p) {
  const data::matrix offsets = operands_of(p).offsets;
  std::vector<std::int64_t> sizes;
  for (std::int64_t g = 0; g < p.groups; ++g)
    sizes.push_back(data::first_row_of(offsets, g + 1) - data::first_row_of(offsets, g));
  return sizes;
}

}  // namespace

TEST_CASE("groups have all rows, each row one group, and the first one changes", "[data]") {
  for (const data::group_rows how : data::kGroupRows) {
    for (const std::int64_t count : {1, 2, 7, 8, 64, 100}) {
      std::set<std::vector<std::int64_t>> found;
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        problem p = grouped(count, how);
        p.seed = seed;
        INFO(problem_name(p));
        const data::matrix offsets = operands_of(p).offsets;
        CHECK(data::first_row_of(offsets, 0) == 0);
        CHECK(data::first_row_of(offsets, count) == p.m);
        std::int64_t sum = 0;
        for (const std::int64_t rows : sizes_of_groups(p)) {
          CHECK(rows >= 0);
          sum += rows;
        }
        CHECK(sum == p.m);
        const problem other = grouped(count, how);  // of another seed
        CHECK(data::have_same_rows(offsets, operands_of(other).offsets) ==
              (sizes_of_groups(p) == sizes_of_groups(other)));
        for (std::int64_t row = 0; row < p.m; ++row)
          CHECK(data::group_of(offsets, row) == group_in_memory(p, row));
        found.insert(sizes_of_groups(p));
      }
      if (how != data::group_rows::even && count > 1) CHECK(found.size() > 1);
    }
  }
  using sizes = std::vector<std::int64_t>;
  const sizes even = sizes_of_groups(grouped(4, data::group_rows::even));
  CHECK(even == sizes{10, 10, 10, 10});
  sizes skewed = sizes_of_groups(grouped(4, data::group_rows::skewed));
  std::ranges::sort(skewed);
  CHECK(skewed == sizes{2, 8, 12, 18});
  sizes with_empty = sizes_of_groups(grouped(4, data::group_rows::half_empty));
  std::ranges::sort(with_empty);
  CHECK(with_empty == sizes{0, 0, 20, 20});
  for (const auto& [how, count] : {std::pair{data::group_rows::even, 4},
                                   {data::group_rows::skewed, 4},
                                   {data::group_rows::half_empty, 2}})
    CHECK(data::groups_with_rows(operands_of(grouped(4, how)).offsets) == count);
}

TEST_CASE("right results of groups pass", "[reference]") {
  for (const element_types& types : kElementTypes) {
    for (const data::group_rows how : data::kGroupRows) {
      for (const layout given : kLayouts) {
        problem p = grouped(6, how, types);
        p.layout = given;
        p.padding = 2;
        p.alpha = 3;
        p.beta = -2;
        INFO(problem_name(p));
        CHECK(objection_to(p, computed(p)) == "");
      }
    }
  }
}

TEST_CASE("a kernel that takes another group's B is told so", "[reference]") {
  const problem p = grouped(5, data::group_rows::skewed);
  const auto reason_with = [&](const choice& b_of) {
    const buffer wrong = computed(p, {}, its_own, b_of);
    const reference::judgement j = judged(p, wrong);
    CHECK_FALSE(j.right);
    CHECK_FALSE(judged_on_cpu(p, wrong).right());
    return j.reason;
  };
  CHECK_THAT(
      reason_with([](std::int64_t) { return 2; }),
      ContainsSubstring("they are computed with the B of group 2") && ContainsSubstring("(group "));
  CHECK_THAT(reason_with([](std::int64_t group) { return (group + 1) % 5; }),
             ContainsSubstring("likely cause: group ") &&
                 ContainsSubstring(" is computed with the B of group "));
  constexpr std::array<std::int64_t, 5> kOthers{1, 3, 0, 4, 2};
  CHECK_THAT(reason_with([&](std::int64_t group) { return kOthers[std::size_t(group)]; }),
             ContainsSubstring("likely cause: the rows of a group are computed with the B of "
                               "different groups, as with the offsets of an earlier call"));
}
