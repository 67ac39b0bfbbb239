#pragma once
// Properties of an epilogue's stage kinds.

#include <kzoo/abi.h>

namespace kzoo {

constexpr bool has_operand(kzoo_stage_kind kind) {
  return kind == KZOO_STAGE_ADD || kind == KZOO_STAGE_MULTIPLY;
}

// An operand's default type: C's for ADD, f32 for MULTIPLY.
constexpr kzoo_type usual_operand_type(kzoo_stage_kind kind, kzoo_type of_c) {
  return kind == KZOO_STAGE_ADD ? of_c : KZOO_F32;
}

// Whether C may have this type with an epilogue (computed in fp32); also for its operands.
constexpr bool is_finished_type(kzoo_type type) {
  return type == KZOO_F32 || type == KZOO_F16 || type == KZOO_BF16;
}

}  // namespace kzoo
