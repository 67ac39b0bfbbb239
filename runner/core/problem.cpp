#include "core/problem.hpp"

#include <fmt/format.h>

#include <array>

namespace kzoo {
namespace {

struct type_entry {
  kzoo_type type;
  std::string_view name;
  std::size_t size;
  bool integer;
};
constexpr std::array kTypes = {
    type_entry{KZOO_F32, "f32", 4, false},
    type_entry{KZOO_F16, "f16", 2, false},
    type_entry{KZOO_BF16, "bf16", 2, false},
    type_entry{KZOO_I32, "i32", 4, true},
};

const type_entry* find(kzoo_type type) {
  for (const type_entry& entry : kTypes)
    if (entry.type == type) return &entry;
  return nullptr;
}

}  // namespace

std::string_view type_name(kzoo_type type) {
  const type_entry* entry = find(type);
  return entry ? entry->name : "unknown type";
}

kzoo_type type_from_name(std::string_view name) {
  for (const type_entry& entry : kTypes)
    if (entry.name == name) return entry.type;
  return 0;
}

std::size_t type_size(kzoo_type type) {
  const type_entry* entry = find(type);
  return entry ? entry->size : 0;
}

bool is_integer(kzoo_type type) {
  const type_entry* entry = find(type);
  return entry && entry->integer;
}

std::string_view precision_name(kzoo_precision precision) {
  switch (precision) {
    case KZOO_COMPUTE_FP32:
      return "fp32";
    case KZOO_COMPUTE_TF32:
      return "tf32";
    case KZOO_COMPUTE_FP16:
      return "fp16";
    case KZOO_COMPUTE_BF16:
      return "bf16";
    case KZOO_COMPUTE_INT32:
      return "int32";
    case KZOO_COMPUTE_FP32_SPLIT:
      return "fp32_split";
    default:
      return "unknown precision";
  }
}

bool is_fp32(kzoo_precision precision) {
  return precision == KZOO_COMPUTE_FP32 || precision == KZOO_COMPUTE_FP32_SPLIT;
}

std::string_view fill_name(fill f) {
  switch (f) {
    case fill::integers:
      return "integers";
    case fill::probe:
      return "probe";
    case fill::signs:
      return "signs";
    case fill::unequal:
      return "unequal";
    case fill::probe_b:
      return "probe_b";
    default:
      return "uniform";
  }
}

fill default_fill(kzoo_type type) { return is_integer(type) ? fill::integers : fill::uniform; }

problem sized(std::int64_t m, std::int64_t n, std::int64_t k, kzoo_type dtype) {
  problem p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.dtype = dtype;
  p.data = default_fill(dtype);
  return p;
}

std::string shape_name(const problem& p) { return fmt::format("{}x{}x{}", p.m, p.n, p.k); }

std::string problem_name(const problem& p) {
  const problem usual;
  std::string name = fmt::format("{} {}", shape_name(p), type_name(p.dtype));
  if (p.alpha != usual.alpha) name += fmt::format(" alpha={}", p.alpha);
  if (p.beta != usual.beta) name += fmt::format(" beta={}", p.beta);
  if (p.padding != usual.padding) name += fmt::format(" padding={}", p.padding);
  if (p.data != default_fill(p.dtype)) name += fmt::format(" fill={}", fill_name(p.data));
  if (p.seed != usual.seed) name += fmt::format(" seed={}", p.seed);
  return name;
}

kzoo_problem to_abi(const problem& p) {
  kzoo_problem abi = {};
  abi.struct_size = sizeof abi;
  abi.m = p.m;
  abi.n = p.n;
  abi.k = p.k;
  abi.lda = p.lda();
  abi.ldb = p.ldb();
  abi.ldc = p.ldc();
  abi.type_a = abi.type_b = abi.type_c = p.dtype;
  abi.layout_a = abi.layout_b = abi.layout_c = KZOO_ROW_MAJOR;
  abi.alpha = p.alpha;
  abi.beta = p.beta;
  abi.alignment = kMatrixAlignment;
  return abi;
}

}  // namespace kzoo
