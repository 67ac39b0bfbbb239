// Freivalds' check: correct results pass it, and no wrong one does.
#include "reference/freivalds.hpp"

#include "devices/backend.hpp"
#include "support/catch.hpp"
#include "unit/reference_samples.hpp"

using namespace kzoo;
using namespace kzoo::samples;

namespace {

constexpr std::uint64_t kKey = 99;

std::string verdict_on(const problem& p, const buffer& words) {
  return reference::compare_folds(
      reference::fold_of_product(p, kKey),
      devices::open_cpu()->fold_rows(words.bytes().data(), words.matrix(), kKey));
}

}  // namespace

TEST_CASE("a correct product has the expected row sums", "[reference]") {
  for (kzoo_type type : {KZOO_F32, KZOO_F16, KZOO_BF16, KZOO_I32}) {
    for (const std::int64_t k : {1, 40, 3000}) {
      problem p = sized(37, 29, k, type);
      p.padding = 3;
      p.alpha = 0.5;
      p.beta = 2;
      p = reference::exact_companion(p);
      CHECK(verdict_on(p, computed(p)) == "");
    }
  }
}

TEST_CASE("an error of one in an element shows in its row", "[reference]") {
  for (kzoo_type type : {KZOO_F32, KZOO_F16, KZOO_BF16, KZOO_I32}) {
    const problem p = reference::exact_companion(sized(40, 32, 600, type));
    const buffer right = computed(p);
    for (const double off : {1.0, -1.0, 64.0}) {
      buffer words = right;
      words.put(17, 31, words.at(17, 31) + off);
      CHECK(verdict_on(p, words) == "1 of 40 rows of C are not exact: row 17");
    }
    buffer swapped = right;
    swapped.put(3, 1, right.at(3, 2) + 1);
    swapped.put(3, 2, right.at(3, 1) - 1);
    CHECK(verdict_on(p, swapped) == "1 of 40 rows of C are not exact: row 3");
    buffer poisoned = right;
    poisoned.unwrite(39, 0);
    CHECK(verdict_on(p, poisoned) == "1 of 40 rows of C are not exact: row 39");
    recipe how;
    how.takes = [](std::int64_t k) { return k != 299; };
    CHECK(verdict_on(p, computed(p, how)) != "");
  }
  problem p = reference::exact_companion(sized(40, 32, 600));
  buffer fraction = computed(p);
  fraction.put(5, 5, fraction.at(5, 5) + 0.25);
  CHECK(verdict_on(p, fraction) == "1 of 40 rows of C are not exact: row 5");
}
