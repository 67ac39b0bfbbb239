#pragma once
// What the kinds of an epilogue's stages have in common.

#include <kzoo/abi.h>

namespace kzoo {

constexpr bool has_operand(kzoo_stage_kind kind) {
  return kind == KZOO_STAGE_ADD || kind == KZOO_STAGE_MULTIPLY;
}

// Of an operand that no type is named for: what is added has that of C, a factor is f32.
constexpr kzoo_type usual_operand_type(kzoo_stage_kind kind, kzoo_type of_c) {
  return kind == KZOO_STAGE_ADD ? of_c : KZOO_F32;
}

// Whether a C of this type may have an epilogue, which is computed in fp32, or an operand be of it.
constexpr bool is_finished_type(kzoo_type type) {
  return type == KZOO_F32 || type == KZOO_F16 || type == KZOO_BF16;
}

}  // namespace kzoo
