// Each kind of wrong result has its own reason.

#include "data/contents.hpp"
#include "reference/expected_result.hpp"
#include "unit/reference_samples.hpp"

#include "support/catch.hpp"

#include <cstddef>
#include <stdexcept>
#include <vector>

using namespace kzoo;
using namespace kzoo::samples;
using test::ContainsSubstring;

namespace {

std::string reason(const problem& p, const buffer& words) {
  const reference::judgement j = judged(p, words);
  CHECK(j.right == j.reason.empty());
  CHECK(j.reason.size() <= 300);
  return j.reason;
}

problem padded(const element_types& type = KZOO_F32) {
  problem p = sized(20, 30, 12, type);
  p.padding = 3;
  return p;
}

}  // namespace

TEST_CASE("a correct result passes for every type, alpha and beta", "[reference]") {
  for (const element_types& type : kElementTypes) {
    for (const double alpha : {0.0, 1.0, 3.0}) {
      for (const double beta : {0.0, 1.0, -2.0}) {
        problem p = padded(type);
        p.alpha = alpha;
        p.beta = beta;
        INFO(problem_name(p));
        CHECK(reason(p, computed(p)) == "");
      }
    }
  }
}

TEST_CASE("every word outside C is checked", "[reference]") {
  for (const element_types& type : kElementTypes) {
    for (const double beta : {0.0, 1.0}) {
      problem p = padded(type);
      p.beta = beta;
      const buffer right = computed(p);
      const data::matrix& c = right.matrix();
      const std::int64_t end = data::word_count(c);
      const std::pair<std::int64_t, const char*> places[] = {
          {0, "1 word changed, the first 1024 before its first element"},
          {data::kRedzone - 1, "the first 1 before its first element"},
          {data::index_of(c, 4, 30), "in the padding: row 4, column 30 (C has columns 0 to 29)"},
          {data::index_of(c, 19, 32), "in the padding: row 19, column 32"},
          {end - data::kRedzone, "the first 1 past its last element"},
          {end - 1, "the first 1024 past its last element"},
      };
      for (const auto& [index, sentence] : places) {
        buffer words = right;
        words.put_word(index, words.word(index) ^ 1u);
        CHECK_THAT(reason(p, words),
                   ContainsSubstring("written outside C") && ContainsSubstring(sentence));
      }
    }
  }
}

TEST_CASE("a write outside C is reported before errors inside", "[reference]") {
  const problem p = padded();
  buffer words(p);  // nothing written, and then a stray store
  words.put_word(5, 0);
  words.put_word(9, 0);
  CHECK_THAT(reason(p, words), ContainsSubstring("2 words changed, the first 1019 before"));
}

TEST_CASE("poison that survives was not written", "[reference]") {
  struct {
    bool (*left)(std::int64_t row, std::int64_t col);
    const char* sentence;
  } cases[] = {
      {[](std::int64_t, std::int64_t) { return true; },
       "the kernel wrote nothing: all 600 elements of C still hold the poison"},
      {[](std::int64_t row, std::int64_t) { return row == 19; },
       "not written: 30 of 600 elements of C (5%) still hold the poison: row 19"},
      {[](std::int64_t row, std::int64_t) { return row >= 16; }, "rows 16 to 19"},
      {[](std::int64_t row, std::int64_t) { return row % 2 == 1; }, "every 2nd row from row 1"},
      {[](std::int64_t, std::int64_t col) { return col == 29; }, "column 29 of every row"},
      {[](std::int64_t, std::int64_t col) { return col >= 16; }, "columns 16 to 29 of every row"},
      {[](std::int64_t row, std::int64_t col) { return row >= 16 || col >= 24; },
       "rows 16 to 19 and columns 24 to 29"},
      {[](std::int64_t row, std::int64_t col) { return row >= 8 && row < 12 && col < 16; },
       "rows 8 to 11 of columns 0 to 15"},
      {[](std::int64_t row, std::int64_t col) { return row * 30 + col >= 512; },
       "everything from row 17, column 2 on"},
      {[](std::int64_t row, std::int64_t col) { return (row * 7 + col * 5) % 11 == 9; },
       "the first at row 0, column 4"},
  };
  for (const element_types& type : kElementTypes) {
    const problem p = padded(type);
    for (const auto& c : cases) {
      buffer words = computed(p);
      for (std::int64_t i = 0; i < p.m; ++i)
        for (std::int64_t j = 0; j < p.n; ++j)
          if (c.left(i, j)) words.unwrite(i, j);
      CHECK_THAT(reason(p, words), ContainsSubstring(c.sentence) && ContainsSubstring("poison"));
    }
  }
}

TEST_CASE("the expected integer may equal the poison", "[reference]") {
  // Once in 2^32 elements; here alpha is chosen so that alpha * product is the poison.
  for (std::uint64_t seed = 1; seed < 100; ++seed) {
    problem p = sized(1, 1, 1, KZOO_I32);
    p.seed = seed;
    p.alpha = 0;
    const operands o = operands_of(p);
    const buffer words(p);
    const double product = value_at(o.a, 0, 0) * value_at(o.b, 0, 0);
    if (product == 0 || std::fmod(words.at(0, 0), product) != 0) continue;
    CHECK_THAT(reason(p, words), ContainsSubstring("wrote nothing"));
    p.alpha = words.at(0, 0) / product;
    CHECK(reason(p, words) == "");
    return;
  }
  FAIL("no seed found");
}

TEST_CASE("NaN never passes", "[reference]") {
  for (kzoo_type type : {KZOO_F32, KZOO_F16, KZOO_BF16}) {
    for (const double beta : {0.0, 1.0}) {
      problem p = padded(type);
      p.beta = beta;
      buffer words = computed(p);
      words.put(7, 11, NAN);
      const reference::judgement one = judged(p, words);
      CHECK_FALSE(one.right);
      CHECK_THAT(one.reason, ContainsSubstring("NaN in 1 of 600 elements of C (0.167%)") &&
                                 ContainsSubstring("row 7") && ContainsSubstring("column 11"));
      CHECK(one.accuracy.rows_checked == 0);
      for (std::int64_t i = 0; i < p.m; ++i)
        for (std::int64_t j = 0; j < p.n; ++j) words.put(i, j, NAN);
      CHECK_THAT(reason(p, words),
                 ContainsSubstring("everywhere") &&
                     ContainsSubstring(beta == 0 ? "does it read C although beta = 0"
                                                 : "does it read outside A, B or C, or shared "
                                                   "memory"));
    }
  }
}

TEST_CASE("poison that was propagated was read", "[reference]") {
  const problem p = padded();
  buffer words = computed(p);
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      const std::int64_t index = data::index_of(words.matrix(), i, j);
      words.put_word(index, data::word(words.matrix(), index) | 0x400000u);  // as x86 quiets it
    }
  }
  CHECK_THAT(reason(p, words), ContainsSubstring("the kernel reads C although beta = 0"));
}

TEST_CASE("infinities are found in every row", "[reference]") {
  const problem p = padded();
  for (const double value : {INFINITY, -INFINITY}) {
    buffer words = computed(p);
    words.put(19, 29, value);
    CHECK_THAT(reason(p, words), ContainsSubstring("infinite in 1 of 600") &&
                                     ContainsSubstring("row 19") && ContainsSubstring("column 29"));
  }
}

TEST_CASE("infinities and NaN are where the inputs put them", "[reference]") {
  for (const element_types& type : kElementTypes) {
    if (is_integer(type)) continue;
    problem p = padded(type);
    p.data = fill::specials;
    const buffer right = computed(p);
    CHECK(reason(p, right) == "");
    int special = 0;
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        if (std::isfinite(right.at(i, j))) continue;
        if (++special > 5) continue;
        buffer words = right;
        words.put(i, j, 0.5);
        INFO(problem_name(p) << " " << i << " " << j);
        CHECK_THAT(reason(p, words), ContainsSubstring("where an infinity or NaN in A, B or C"));
        if (std::isinf(right.at(i, j))) {
          words.put(i, j, NAN);
          CHECK_THAT(reason(p, words),
                     ContainsSubstring(right.at(i, j) > 0 ? ": expected inf, got NaN"
                                                          : ": expected -inf, got NaN"));
        }
        words.put(i, j, std::isinf(right.at(i, j)) ? -right.at(i, j) : INFINITY);
        CHECK_FALSE(judged(p, words).right);
      }
    }
    CHECK(special > 0);
    buffer words = right;
    for (std::int64_t i = 0; i < p.m * p.n; ++i) {
      if (!std::isfinite(right.at(i / p.n, i % p.n))) continue;
      words.put(i / p.n, i % p.n, NAN);
      CHECK_THAT(reason(p, words), ContainsSubstring("NaN in 1 of 600 elements of C"));
      break;
    }
  }
}

TEST_CASE("a single wrong element is found, wherever it is", "[reference]") {
  for (const element_types& type : kElementTypes) {
    const problem p = padded(type);
    const buffer right = computed(p);
    for (std::int64_t at : {0, 29, 300, 570, 599}) {
      buffer words = right;
      words.put(at / 30, at % 30, words.at(at / 30, at % 30) + 1);
      const reference::judgement j = judged(p, words);
      CHECK_FALSE(j.right);
      CHECK_THAT(j.reason, ContainsSubstring("1 of 600 elements of C (0.167%)"));
      CHECK(j.accuracy.worst_row == at / 30);
      CHECK(j.accuracy.worst_col == at % 30);
      CHECK(j.accuracy.max_abs_error == Approx(1).epsilon(0.06));
      CHECK(j.accuracy.worst_of_allowed > 1);
    }
  }
}

TEST_CASE("the reason has the expected and the actual value", "[reference]") {
  problem p = sized(4, 4, 3, KZOO_I32);
  buffer words = computed(p);
  const double expected = words.at(1, 2);
  words.put(1, 2, 12345);
  CHECK(reason(p, words) ==
        "1 of 16 elements of C (6.25%) are not exact, the worst at row 1, column 2: expected " +
            std::to_string(int(expected)) + ", got 12345");
}

TEST_CASE("where S is zero, only a zero of either sign is correct", "[reference]") {
  for (kzoo_type type : {KZOO_F32, KZOO_F16, KZOO_BF16}) {
    problem p = sized(3, 3, 5, type);
    p.alpha = 0;
    buffer words(p);
    for (std::int64_t i = 0; i < 9; ++i) words.put(i / 3, i % 3, i % 2 ? 0.0 : -0.0);
    CHECK(reason(p, words) == "");
    words.put_word(data::index_of(words.matrix(), 1, 1), 1);  // the smallest subnormal
    CHECK_THAT(reason(p, words), ContainsSubstring("row 1, column 1: expected 0"));
  }
}

TEST_CASE("rows without expected values are still searched for unwritten and non-finite elements",
          "[reference]") {
  const problem p = sized(101, 16, 8);
  const reference::expected_result t(p, 5.5 * 16 * 8);
  REQUIRE(t.rows().size() == 5);
  std::int64_t hidden = 1;
  while (hidden == t.rows()[1]) ++hidden;
  const auto judged_after = [&](auto change) {
    buffer words = computed(p);
    change(words);
    return reference::judge(t, KZOO_COMPUTE_FP32, words.bytes());
  };
  const reference::judgement right = judged_after([](buffer&) {});
  CHECK(right.reason == "");
  CHECK(right.accuracy.rows_checked == 5);
  CHECK_THAT(judged_after([&](buffer& w) { w.unwrite(hidden, 3); }).reason,
             ContainsSubstring("not written: 1 of 1616"));
  CHECK_THAT(judged_after([&](buffer& w) { w.put(hidden, 3, NAN); }).reason,
             ContainsSubstring("NaN in 1 of 1616"));
  CHECK_THAT(judged_after([&](buffer& w) { w.put(hidden, 3, INFINITY); }).reason,
             ContainsSubstring("infinite in 1 of 1616"));
  CHECK_THAT(judged_after([&](buffer& w) { w.put(100, 15, 99); }).reason,
             ContainsSubstring("1 of 80 checked elements") && ContainsSubstring("row 100"));
}

TEST_CASE("a buffer of another size is not judged", "[reference]") {
  const problem p = sized(4, 4, 4);
  const buffer words(p);
  const reference::expected_result t(p);
  CHECK_THROWS_AS(reference::judge(t, KZOO_COMPUTE_FP32, words.bytes().subspan(4)),
                  std::invalid_argument);
}

TEST_CASE("the rows of an expected result can be judged by themselves", "[reference]") {
  const problem p = padded();
  const reference::expected_result t(p, 5.5 * double(p.n) * double(p.k));
  REQUIRE(t.rows().size() == 5);
  buffer words = computed(p);
  const auto both = [&] {
    const reference::judgement rows =
        reference::judge(t, KZOO_COMPUTE_FP32, reference::keep(t, words.bytes()));
    const reference::judgement whole = reference::judge(t, KZOO_COMPUTE_FP32, words.bytes());
    CHECK(rows.reason == whole.reason);
    CHECK(rows.accuracy.max_rho == whole.accuracy.max_rho);
    return rows.right;
  };
  CHECK(both());
  words.put(t.rows()[3], 7, words.at(t.rows()[3], 7) + 1);
  CHECK_FALSE(both());
}

TEST_CASE("a reason is written from the rows that were copied, where those are all",
          "[reference]") {
  const problem p = sized(1009, 257, 8);
  const reference::expected_result t(p, 0);  // the fewest rows
  REQUIRE(t.rows() == std::vector<std::int64_t>{0, 1008});
  const auto judged_rows = [&](const problem& by, const buffer& words) {
    const reference::expected_result known(by, 0);
    return reference::judge(known, KZOO_COMPUTE_FP32, reference::keep(known, words.bytes())).reason;
  };
  const auto after = [&](auto change) {
    buffer words = computed(p);
    change(words);
    return judged_rows(p, words);
  };
  CHECK(after([](buffer&) {}) == "");
  CHECK_THAT(after([](buffer& w) { w.put(1008, 5, NAN); }),
             ContainsSubstring("NaN in 1 of 514 checked elements of C (0.195%), the first at row "
                               "1008, column 5; expected"));
  CHECK_THAT(after([](buffer& w) { w.put(1008, 5, INFINITY); }),
             ContainsSubstring("infinite in 1 of 514 checked elements of C (0.195%), the first at "
                               "row 1008, column 5; expected"));
  CHECK_THAT(
      after([](buffer& w) { w.unwrite(1008, 5); }),
      ContainsSubstring("not written: 1 of 514 checked elements of C (0.195%) still hold the "
                        "poison: the first at row 1008, column 5"));
  CHECK_THAT(after([](buffer& w) { w.put(1008, 5, w.at(1008, 5) + 1); }),
             ContainsSubstring("1 of 514 checked elements of C (0.195%) differ"));
  // A C that still has the poison of another run.
  problem earlier = p;
  earlier.seed += 1;
  CHECK_THAT(judged_rows(earlier, buffer(p)), ContainsSubstring("NaN in 514 of 514"));
  // Where infinities decide.
  problem special = p;
  special.data = fill::specials;
  CHECK_THAT(judged_rows(special, computed(p)),
             ContainsSubstring("of 514 checked elements of C") &&
                 ContainsSubstring("an infinity or NaN in A, B or C decides"));
  reference::result short_one = reference::keep(t, computed(p).bytes());
  short_one.elements.pop_back();
  CHECK_THROWS_AS(reference::judge(t, KZOO_COMPUTE_FP32, short_one), std::invalid_argument);
}

TEST_CASE("a word that a buffer does not have cannot be read", "[reference]") {
  const std::vector<std::byte> three(3 * sizeof(float));
  const reference::word_view words(KZOO_F32, three);
  CHECK(words.count() == 3);
  CHECK(words[2] == 0);
  CHECK_THROWS_AS(words[3], std::out_of_range);
  CHECK_THROWS_AS(words[-1], std::out_of_range);
}

TEST_CASE("a NaN from outside an input is traced to where it was read", "[reference]") {
  const problem p = padded();
  const operands o = operands_of(p);
  const auto made_from = [&](const data::matrix& x, std::int64_t index) {
    buffer words = computed(p);
    words.put_word(data::index_of(words.matrix(), 4, 9), data::word(x, index) | 0x400000u);
    return reason(p, words);
  };
  CHECK_THAT(made_from(o.a, data::kRedzone + o.a.rows * o.a.ld),
             ContainsSubstring(
                 "propagated from the NaN outside A: the kernel reads 1 past its last element"));
  CHECK_THAT(made_from(o.b, 1000),
             ContainsSubstring("outside B: the kernel reads 24 before its first element"));
  CHECK_THAT(made_from(o.b, data::index_of(o.b, 2, o.b.cols)),
             ContainsSubstring("outside B: the kernel reads in the padding: row 2"));
}

TEST_CASE("all elements are said to be wrong only where all are", "[reference]") {
  const problem p = sized(60, 60, 4, KZOO_F32);
  const buffer right = computed(p);
  const data::matrix& c = right.matrix();
  buffer words = right;
  for (int row = 0; row < 60; ++row)
    for (int col = row == 0 ? 1 : 0; col < 60; ++col)
      words.put_word(data::index_of(c, row, col), 0x42000000u);  // 32
  CHECK_THAT(reason(p, words), ContainsSubstring("3599 of 3600 elements of C (99.9%)"));
}
