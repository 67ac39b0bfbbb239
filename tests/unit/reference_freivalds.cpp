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
  return reference::compare_exact(
      p, reference::exact_sums(p, kKey),
      devices::open_cpu()->sum_rows(words.bytes().data(), words.matrix(), kKey));
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

TEST_CASE("a correct product of real numbers has the expected sums, within rounding",
          "[reference]") {
  for (kzoo_type type : {KZOO_F32, KZOO_F16, KZOO_BF16}) {
    for (const std::int64_t k : {1, 40, 3000}) {
      problem p = sized(37, 290, k, type);
      p.padding = 3;
      p.alpha = -0.7;
      p.beta = 1.3;
      const auto expected = reference::rounded_sums(p, kKey);
      const auto verdict = [&](const buffer& words) {
        return reference::compare_rounded(
            p, usual_precision(type), expected,
            devices::open_cpu()->sum_rows(words.bytes().data(), words.matrix(), kKey));
      };
      const buffer right = computed(p);
      CHECK(verdict(right) == "");
      if (k == 1) continue;  // as large as their own rounding errors
      // A row that is left at zero, or is another row's.
      buffer zeros = right, copied = right;
      for (std::int64_t col = 0; col < p.n; ++col) {
        zeros.put(17, col, 0);
        copied.put(17, col, right.at(18, col));
      }
      const std::string wrong = "1 of 37 rows of C have a sum that differs by more than " +
                                std::string(precision_name(usual_precision(type))) +
                                " allows: row 17";
      CHECK(verdict(zeros) == wrong);
      CHECK(verdict(copied) == wrong);
    }
  }
}

TEST_CASE("row sums restore the signs of negated rows and columns", "[reference]") {
  const problem p = reference::exact_companion(sized(37, 29, 40));
  const buffer words = computed(p);
  std::vector<std::byte> bytes(words.bytes().begin(), words.bytes().end());
  data::matrix negated = words.matrix();
  negated.negated = {5, 6, false};
  const auto cpu = devices::open_cpu();
  cpu->negate(bytes.data(), words.matrix(), negated.negated);
  const auto expected = reference::exact_sums(p, kKey);
  CHECK(reference::compare_exact(p, expected, cpu->sum_rows(bytes.data(), negated, kKey)) == "");
  CHECK(reference::compare_exact(p, expected, cpu->sum_rows(bytes.data(), words.matrix(), kKey)) !=
        "");
  CHECK(cpu->digest(bytes.data(), negated) == cpu->digest(words.bytes().data(), words.matrix()));
}
