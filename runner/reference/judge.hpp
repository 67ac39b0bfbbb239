#pragma once
// Judges a result against the expected one.

#include "core/verdict.hpp"
#include "reference/expected_result.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kzoo::reference {

struct accuracy {
  double max_abs_error = 0;
  double max_rho = 0;           // max of |C^ - C| / (u S), without one rounding to a narrower C;
                                // integers: max of |C^ - C|
  double rho_over_sqrt_k = 0;   // max_rho / sqrt(K)
  double worst_of_allowed = 0;  // max of |C^ - C| / allowed; <= 1 passes
  std::int64_t worst_row = 0, worst_col = 0;
  double relative_frobenius = 0;  // ||C^ - C||_F / ||C||_F
  double digits = 0;              // -log10 of relative_frobenius, from 0 to 17
  std::int64_t rows_checked = 0;  // 0: not measured, as C has unwritten or non-finite elements
};

struct differing {
  std::int64_t row = 0, col = 0;
  double expected = 0, got = 0;
  bool unwritten = false;
};

// The places where C is wrong: map_errors().
struct error_map {
  std::int64_t rows_per_line = 1, columns_per_character = 1;
  std::vector<std::string> picture;
  std::vector<differing> first;  // a few, in the order of C
  // Rows of each matrix of a batch, drawn below each other; 0: no batch.
  std::int64_t rows_per_product = 0;
};

struct judgement {
  bool right = false;
  std::string reason;                     // a sentence when not right
  std::string_view step = step::kResult;  // the check that failed
  reference::accuracy accuracy;
  std::optional<error_map> errors;  // only if requested

  void refuse(std::string_view what, std::string why) {
    right = false;
    step = what;
    reason = std::move(why);
  }
};

// `words`: the whole C buffer after the kernel, data::word_count(operands.c) elements, redzones
// included; another size throws std::invalid_argument. Checks in this order; the reason is the
// first failure:
// 1. words outside the matrix (redzones, row padding) are unchanged;
// 2. beta = 0: no poison is left inside ("not written: 256 of 65536 elements of C (0.391%) still
// hold the poison: column 255 of every row", or "the kernel wrote nothing: ...");
// 3. every element in all rows is finite (infinity is right where the expected value overflows);
// 4. every element in the rows that `t` covers is within tolerance::allowed();
// 5. the errors together are as usual_errors allows.
// The reason tells how many elements fail, where, expected and actual value, a pattern if any, and
// a likely cause if proven: all zero; alpha or beta left out; A A, or a transposed matrix; terms
// along k dropped; inputs rounded to TF32, fp16 or bf16; sums kept in 16 bits.
judgement judge(const expected_result& t, kzoo_precision declared,
                std::span<const std::byte> words);
// Judges only the rows that `t` covers; the others must be known to be written and finite.
judgement judge(const expected_result& t, kzoo_precision declared, const result& rows);

// Collects everything for a judgement in one pass over the C buffer, and deduces the likely cause
// of a wrong result.

struct place {
  std::int64_t row = -1, col = -1;
};

// An element whose error is larger than allowed.
struct wrong_element {
  place at;
  double got = 0;
  std::uint64_t order = 0;  // a hash: the lowest form a random sample
};

// The number of elements with some property, and the first of them.
struct occurrences {
  std::int64_t count = 0;
  place first;

  void add(std::int64_t row, std::int64_t col) {
    if (count++ == 0) first = {row, col};
  }
  void add(const occurrences& later) {
    if (count == 0) first = later.first;
    count += later.count;
  }
};

struct scanned {
  std::int64_t changed_outside = 0, first_changed = -1;  // words, and an index of data/matrix.hpp
  occurrences unwritten, nan, infinite;
  occurrences lost;                 // other values where NaN or infinity is expected
  std::int64_t quieted_poison = 0;  // NaNs with the payload of the poison in C
  // Infinities where the expected value overflows too, and in rows without expected values.
  std::int64_t right_infinities = 0;
  occurrences unjudged_infinities;

  // About the finite elements in the rows that the expected result covers:
  std::int64_t compared = 0, nonzero = 0, out = 0;
  double max_abs_error = 0, max_rho = 0, squared_error = 0, squared_expected = 0;
  double squared_of_usual = 0;  // of errors relative to usual_errors::of(), if known
  double worst_of_allowed = -1, worst_error = 0, worst_expected = 0, worst_got = 0;
  place worst;
  std::vector<wrong_element> wrong_samples;  // at most kMaxWrongSamples, ascending by `order`

  static constexpr std::size_t kMaxWrongSamples = 8;

  // Root mean square of errors relative to usual ones.
  double of_usual() const;
};

// Element (row, col) of the expected C, computed alone: k FMAs and 2 k hashes.
double exact_element(const problem& p, std::int64_t row, std::int64_t col);

// "alpha is left out", "only the first 504 of 511 terms along k are summed", or "". Names a cause
// only if it explains all of `found`'s wrong_samples to within rounding.
std::string likely_cause(const expected_result& t, kzoo_precision declared, const scanned& found);

}  // namespace kzoo::reference
