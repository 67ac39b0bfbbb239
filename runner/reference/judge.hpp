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

}  // namespace kzoo::reference
