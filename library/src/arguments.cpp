#include "arguments.hpp"

#include <kzoo/caller.hpp>
#include <kzoo/error.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace kzoo::library {
namespace {

constexpr std::uint64_t kWorkspaceAlignment = 256;

[[noreturn]] void refuse_size(const std::string& why) { throw error(KZOO_INVALID_SIZE, why); }

void require_pointer(const void* pointer, const char* name) {
  if (pointer == nullptr) throw error(KZOO_NULL_POINTER, std::string(name) + " is NULL");
}

// A matrix in memory, before its operation: `lines` of `length` elements.
struct stored {
  const matrix_argument& of;
  std::int64_t lines, length;

  stored(const matrix_argument& argument, std::int64_t rows, std::int64_t cols, bool row_major)
      : of(argument), lines(rows), length(cols) {
    if (of.op > KZOO_OP_C) {
      throw error(KZOO_INVALID_ARGUMENT, std::string("the operation of ") + of.name + " is " +
                                             std::to_string(of.op) +
                                             ", which is no kzoo_operation");
    }
    const bool transposed = of.op != KZOO_OP_N;
    if (transposed == row_major) std::swap(lines, length);
  }

  void check() const {
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    if (std::max({lines, length, of.ld}) > kMost) {
      refuse_size("sizes above 2^40 are not supported");
    }
    const std::int64_t least = std::max<std::int64_t>(1, length);
    if (of.ld < least) {
      refuse_size(std::string(of.ld_name) + " is " + std::to_string(of.ld) +
                  ", and must be at least " + std::to_string(least));
    }
    if (of.type < KZOO_F32 || of.type > KZOO_E5M2) {
      throw error(KZOO_UNSUPPORTED_TYPE, std::string("the type of ") + of.name + " is " +
                                             std::to_string(of.type) + ", which is no kzoo_type");
    }
    extent_or_refuse(lines, of.ld, length);
  }
  // A batch's matrices lie one after the other or, if `may_share`, are a single matrix.
  void check_batch(std::int64_t batch, bool may_share) const {
    const std::int64_t least = extent_or_refuse(lines, of.ld, length);
    const bool is_shared = may_share && of.stride == 0;
    if (of.stride < least && !is_shared) {
      refuse_size(std::string("the stride of ") + of.name + " is " + std::to_string(of.stride) +
                  ", and must be at least " + std::to_string(least) + (may_share ? ", or 0" : ""));
    }
    extent_or_refuse(batch, of.stride, least);
  }
  std::int64_t extent_or_refuse(std::int64_t count, std::int64_t stride, std::int64_t part) const {
    if (const auto elements = extent(count, stride, part)) return *elements;
    refuse_size(std::string(of.name) + " reaches over more than 2^56 elements: " +
                std::to_string(count) + " times " + std::to_string(stride));
  }
};

std::uint64_t address(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

double scalar(const void* value, kzoo_type type_c) {
  if (type_c == KZOO_F64) return *static_cast<const double*>(value);
  if (type_c == KZOO_I32) return *static_cast<const std::int32_t*>(value);
  return *static_cast<const float*>(value);
}

kzoo_layout layout_of(const matrix_argument& x) {
  return x.op == KZOO_OP_N ? KZOO_ROW_MAJOR : KZOO_COLUMN_MAJOR;
}

void check(const gemm_arguments& x, const kzoo_call& how) {
  if (std::min({x.m, x.n, x.k}) < 0) {
    refuse_size("m, n and k must not be negative: " + std::to_string(x.m) + ", " +
                std::to_string(x.n) + ", " + std::to_string(x.k));
  }
  if (how.batch < 0) refuse_size("the batch must not be negative");
  const bool row_major = how.row_major != 0;
  const stored a(x.a, x.m, x.k, row_major), b(x.b, x.k, x.n, row_major),
      c(x.c, x.m, x.n, row_major);
  for (const stored* matrix : {&a, &b, &c}) matrix->check();
  if (how.batch > 1) {
    a.check_batch(how.batch, true);
    b.check_batch(how.batch, true);
    c.check_batch(how.batch, false);
  }
  if (address(how.workspace) % kWorkspaceAlignment != 0) {
    throw error(KZOO_INVALID_ARGUMENT, "the workspace is not aligned to 256 bytes");
  }
  if (how.device_scalars != 0) {
    throw error(KZOO_DEVICE_SCALARS, "alpha and beta must be in host memory");
  }
  require_pointer(x.alpha, "alpha");
  require_pointer(x.beta, "beta");
}

// C^T = op(B)^T op(A)^T: a column-major GEMM is the row-major GEMM of the same memory, swapped.
product as_row_major(const gemm_arguments& x, const kzoo_call& how) {
  const bool swapped = how.row_major == 0, is_batch = how.batch > 1;
  const matrix_argument &a = swapped ? x.b : x.a, &b = swapped ? x.a : x.b;
  return {.problem = {.struct_size = sizeof(kzoo_problem),
                      .m = swapped ? x.n : x.m,
                      .n = swapped ? x.m : x.n,
                      .k = x.k,
                      .lda = a.ld,
                      .ldb = b.ld,
                      .ldc = x.c.ld,
                      .type_a = a.type,
                      .type_b = b.type,
                      .type_c = x.c.type,
                      .layout_a = layout_of(a),
                      .layout_b = layout_of(b),
                      .layout_c = KZOO_ROW_MAJOR,
                      .alpha = scalar(x.alpha, x.c.type),
                      .beta = scalar(x.beta, x.c.type),
                      .alignment = common_alignment(a.data, b.data, x.out),
                      .scale_a = 0,
                      .scale_b = 0,
                      .batch = is_batch ? how.batch : 0,
                      .stride_a = is_batch ? a.stride : 0,
                      .stride_b = is_batch ? b.stride : 0,
                      .stride_c = is_batch ? x.c.stride : 0,
                      .operand_count = 0,
                      .stage_count = 0,
                      .operands = {},
                      .epilogue = {},
                      .scale_block_a = {},
                      .scale_block_b = {},
                      .groups = 0},
          .a = a.data,
          .b = b.data,
          .c = x.out,
          .stream = how.stream,
          .workspace = how.workspace,
          .workspace_bytes = how.workspace_bytes,
          .workspace_needed = how.workspace_needed};
}

}  // namespace

std::optional<product> to_product(const gemm_arguments& x, const kzoo_call& how) {
  check(x, how);
  if (how.workspace_needed != nullptr) *how.workspace_needed = 0;
  if (x.m == 0 || x.n == 0) return {};
  require_pointer(x.out, "C");
  if (x.k == 0) {
    if (scalar(x.beta, x.c.type) == 1) return {};
    return as_row_major(x, how);
  }
  require_pointer(x.a.data, "A");
  require_pointer(x.b.data, "B");
  return as_row_major(x, how);
}

}  // namespace kzoo::library
