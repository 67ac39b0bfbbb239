#pragma once
// What a problem has beside A, B and C, in cuBLASLt's terms: an epilogue, and scales that are more
// than a number for each matrix. What it has, and how scales lie in memory, is in the chapters
// cublasLtEpilogue_t, cublasLtMatmul() and "Narrow Precision Data Types Usage" of cuBLAS's manual.

#include <kzoo/abi.h>
#include <kzoo/layout.hpp>
#include <kzoo/type_names.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

namespace common {

constexpr bool is_fp8(kzoo_type type) { return type == KZOO_E4M3 || type == KZOO_E5M2; }

enum class lt_activation { none, relu, gelu };

// What one scale is common to: a matrix; a row of A, or a column of B; 128 elements of one along K;
// 128 of these.
enum class lt_scaling { matrix, vector, blocks_1x128, blocks_128x128 };

inline constexpr int kNoOperand = -1;

struct lt_extras {
  int bias = kNoOperand;  // N elements, which are added to each row of C, before the activation
  lt_activation activation = lt_activation::none;
  lt_scaling scaling_a = lt_scaling::matrix, scaling_b = lt_scaling::matrix;
  int scales_a = kNoOperand, scales_b = kNoOperand;
  const char* objection = nullptr;  // why cuBLASLt does not have this, or nullptr

  bool scales_are_operands() const { return scaling_a != lt_scaling::matrix; }
};

// The type that a bias has.
constexpr kzoo_type lt_bias_type(const kzoo_problem& p) {
  return is_fp8(p.type_a) && p.type_c == KZOO_F32 ? KZOO_BF16 : p.type_c;
}

namespace detail {

// An element for each row of C, or for each column, with nothing between them.
inline bool is_of_rows(const kzoo_problem& p, const kzoo_operand& x) {
  return x.rows == p.m && x.cols == 1 && (x.ld == 1 || x.rows == 1);
}
inline bool is_of_columns(const kzoo_problem& p, const kzoo_operand& x) {
  return x.rows == 1 && x.cols == p.n;
}

// Whether all rows of A, B and C, as they are stored, start and end at multiples of 16 bytes.
inline bool rows_are_aligned(const kzoo_problem& p) {
  const kzoo::layout given = kzoo::layout_of(p);
  const auto is_aligned = [](std::int64_t elements, kzoo_type type) {
    return elements * kzoo::type_bytes(type) % 16 == 0;
  };
  const auto are_aligned = [&](std::int64_t length, std::int64_t ld, std::int64_t stride,
                               kzoo_type type) {
    return is_aligned(length, type) && is_aligned(ld, type) && is_aligned(stride, type);
  };
  return p.alignment % 16 == 0 &&
         are_aligned(kzoo::is_a_transposed(given) ? p.m : p.k, p.lda, p.stride_a, p.type_a) &&
         are_aligned(kzoo::is_b_transposed(given) ? p.k : p.n, p.ldb, p.stride_b, p.type_b) &&
         are_aligned(p.n, p.ldc, p.stride_c, p.type_c);
}
// Whether cuBLASLt rounds the product to the type of C before the epilogue, and that shows: relu of
// a rounded number is the rounded relu, but a bias and gelu carry the first rounding's error on.
inline bool rounds_first(const kzoo_problem& p, const lt_extras& found) {
  return kzoo::type_bytes(p.type_c) == 2 && (p.k == 1 || !rows_are_aligned(p)) &&
         (found.bias != kNoOperand || found.activation == lt_activation::gelu);
}

inline lt_extras bias_and_activation(const kzoo_problem& p) {
  lt_extras found;
  const kzoo_stage* next = p.epilogue;
  const kzoo_stage* const end = p.epilogue + p.stage_count;
  if (next != end && next->kind == KZOO_STAGE_ADD && is_of_columns(p, p.operands[next->operand])) {
    found.bias = static_cast<int>(next->operand);
    if (p.operands[next->operand].type != lt_bias_type(p))
      found.objection =
          "cuBLASLt adds a bias of the type of C; to fp8 products in f32, one of bf16";
    ++next;
  }
  if (next != end && next->kind == KZOO_STAGE_RELU) {
    found.activation = lt_activation::relu;
    ++next;
  } else if (next != end && (next->kind == KZOO_STAGE_GELU || next->kind == KZOO_STAGE_GELU_TANH)) {
    found.activation = lt_activation::gelu;  // by tanh: in 16 bits close enough to that by erf
    if (next->kind == KZOO_STAGE_GELU && p.type_c == KZOO_F32)
      found.objection = "cuBLASLt's GELU is gelu_tanh, which is not gelu in fp32";
    ++next;
  }
  if (next != end)
    found.objection =
        "cuBLASLt adds a bias, then does relu or gelu; or, for fp8, row_scale + column_scale";
  if (found.objection == nullptr && rounds_first(p, found))
    found.objection =
        "cuBLASLt rounds the product to 16 bits before it adds a bias or does gelu, unless all rows "
        "start and end at multiples of 16 bytes, and K is not 1";
  return found;
}

// Factors of the rows and the columns of C, which are scales of the rows of A and columns of B.
inline bool has_outer_scales(const kzoo_problem& p) {
  return is_fp8(p.type_a) && p.stage_count == 2 && p.epilogue[0].kind == KZOO_STAGE_MULTIPLY &&
         p.epilogue[1].kind == KZOO_STAGE_MULTIPLY;
}
inline lt_extras outer_scales(const kzoo_problem& p) {
  auto of_rows = p.epilogue[0].operand, of_columns = p.epilogue[1].operand;
  if (!is_of_rows(p, p.operands[of_rows]) || !is_of_columns(p, p.operands[of_columns]))
    std::swap(of_rows, of_columns);
  const kzoo_operand &rows = p.operands[of_rows], &columns = p.operands[of_columns];
  lt_extras found;
  found.scaling_a = found.scaling_b = lt_scaling::vector;
  found.scales_a = static_cast<int>(of_rows);
  found.scales_b = static_cast<int>(of_columns);
  if (!is_of_rows(p, rows) || !is_of_columns(p, columns) || rows.type != KZOO_F32 ||
      columns.type != KZOO_F32)
    found.objection = "cuBLASLt scales rows and columns together, by f32";
  else if (p.beta != 0)
    found.objection = "cuBLASLt scales the rows and columns of A B, not of beta C";
  return found;
}

constexpr lt_scaling scaling_of(const kzoo_scale_block& block) {
  if (block.depth != 128) return lt_scaling::matrix;
  return block.extent == 1     ? lt_scaling::blocks_1x128
         : block.extent == 128 ? lt_scaling::blocks_128x128
                               : lt_scaling::matrix;
}

inline int operand_named(const kzoo_problem& p, std::string_view name) {
  const auto* const end = p.operands + p.operand_count;
  const auto* const found =
      std::find_if(p.operands, end, [&](const kzoo_operand& x) { return name == x.name; });
  return found == end ? kNoOperand : static_cast<int>(found - p.operands);
}

inline const char* block_objection(const kzoo_problem& p, const lt_extras& found) {
  if (!is_fp8(p.type_a)) return "cuBLASLt scales blocks of fp8 matrices only";
  const bool a_is_square = found.scaling_a == lt_scaling::blocks_128x128;
  const bool b_is_square = found.scaling_b == lt_scaling::blocks_128x128;
  if (found.scaling_a == lt_scaling::matrix || found.scaling_b == lt_scaling::matrix ||
      (a_is_square && b_is_square))
    return "cuBLASLt scales blocks of 1x128 in both matrices, or in one, and 128x128 in the other";
  if (p.m % 4 != 0 || p.n % 4 != 0)
    return "cuBLASLt scales blocks only where M and N are multiples of 4";
  const std::int64_t steps = (p.k + 127) / 128;
  const auto is_packed = [&](int operand, bool is_square, std::int64_t size) {
    if (operand == kNoOperand) return false;
    const kzoo_operand& x = p.operands[operand];
    return x.type == KZOO_F32 && (x.rows == 1 || x.ld == (is_square ? (steps + 3) / 4 * 4 : size));
  };
  if (!is_packed(found.scales_a, a_is_square, p.m) || !is_packed(found.scales_b, b_is_square, p.n))
    return "cuBLASLt takes rows of scales that are padded to a multiple of 4, and no further";
  return p.alignment % 16 == 0 ? nullptr
                               : "cuBLASLt takes scales that start at a multiple of 16 bytes";
}
inline lt_extras block_scales(const kzoo_problem& p) {
  lt_extras found;
  found.scaling_a = scaling_of(p.scale_block_a);
  found.scaling_b = scaling_of(p.scale_block_b);
  found.scales_a = operand_named(p, "scale_a");
  found.scales_b = operand_named(p, "scale_b");
  found.objection = block_objection(p, found);
  return found;
}

}  // namespace detail

// Of a problem that has block scales or an epilogue, not both.
inline lt_extras extras_of(const kzoo_problem& p) {
  if (p.scale_block_a.extent != 0 || p.scale_block_b.extent != 0) return detail::block_scales(p);
  return detail::has_outer_scales(p) ? detail::outer_scales(p) : detail::bias_and_activation(p);
}

}  // namespace common
