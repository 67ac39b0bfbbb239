#pragma once
// Stages applied in order to each element of alpha A B + beta C before it is stored: "bias + relu".
// Some stages have an operand with the stage's name, besides A, B and C.

#include "os/enums.hpp"

#include <kzoo/abi.h>

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo {

// `bias`: adds a vector of N, the same for all rows; `row_bias`: a vector of M, the same for all
// columns; `residual`: an M x N matrix. `column_scale`, `row_scale`: multiply by a vector of N or
// M. `relu`: max(x, 0). `gelu`: x times x's normal distribution function, by erf (Hendrycks and
// Gimpel 2016); `gelu_tanh`: their tanh approximation. `silu`: x / (1 + exp(-x)). `clamp`:
// min(max(x, low), high).
KZOO_ENUM(stage_kind, bias, row_bias, residual, column_scale, row_scale, relu, gelu, gelu_tanh,
          silu, clamp);
constexpr bool adds(stage_kind kind) { return kind <= stage_kind::residual; }
constexpr bool multiplies(stage_kind kind) {
  return kind == stage_kind::column_scale || kind == stage_kind::row_scale;
}
kzoo_stage_kind stage_kind_of(stage_kind kind);  // in the ABI
constexpr bool has_operand(stage_kind kind) { return adds(kind) || multiplies(kind); }

struct epilogue_stage {
  stage_kind what = stage_kind::relu;
  kzoo_type type = 0;        // of the operand; 0: C's type, for scales f32
  double low = 0, high = 0;  // of clamp

  auto operator<=>(const epilogue_stage&) const = default;
};
using stage_list = std::vector<epilogue_stage>;  // empty: C = alpha A B + beta C

inline constexpr std::size_t kMostStages = KZOO_MOST_STAGES;

// "bias + relu", "bias:f32 + clamp(-1, 1)", and back. Throws std::invalid_argument.
std::string epilogue_name(const stage_list& stages);
stage_list epilogue_from_name(std::string_view name);

}  // namespace kzoo
