#pragma once
// Element types: names in experiment files and messages, sizes, usual precisions.

#include <kzoo/abi.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace kzoo {

constexpr std::string_view type_name(kzoo_type type) {
  switch (type) {
    case KZOO_F32: return "f32";
    case KZOO_F16: return "f16";
    case KZOO_BF16: return "bf16";
    case KZOO_I32: return "i32";
    case KZOO_F64: return "f64";
    case KZOO_I8: return "i8";
    case KZOO_E4M3: return "e4m3";
    case KZOO_E5M2: return "e5m2";
    case KZOO_I4: return "i4";
    default: return "unknown type";
  }
}

// "f32" if A, B and C have one type; "bf16->f32" if C has another; "e4m3*e5m2->bf16".
inline std::string type_names(kzoo_type a, kzoo_type b, kzoo_type c) {
  std::string names(type_name(a));
  if (a != b) names.append("*").append(type_name(b));
  if (a != b || a != c) names.append("->").append(type_name(c));
  return names;
}

// The size of an element; for int4, of two elements.
constexpr std::int64_t type_bytes(kzoo_type type) {
  switch (type) {
    case KZOO_F64: return 8;
    case KZOO_F16:
    case KZOO_BF16: return 2;
    case KZOO_I8:
    case KZOO_E4M3:
    case KZOO_E5M2:
    case KZOO_I4: return 1;
    default: return 4;
  }
}
// The number of elements of this size.
constexpr std::int64_t elements_in_word(kzoo_type type) { return type == KZOO_I4 ? 2 : 1; }

// The declared precision of a kernel that names none, by the elements of A. For 8-bit
// floating-point types it assumes fp32 computation; kernels on fp8 tensor cores declare
// KZOO_COMPUTE_FP8.
constexpr kzoo_precision usual_precision(kzoo_type type_a) {
  switch (type_a) {
    case KZOO_F64: return KZOO_COMPUTE_FP64;
    case KZOO_F16: return KZOO_COMPUTE_FP16;
    case KZOO_BF16: return KZOO_COMPUTE_BF16;
    case KZOO_I32:
    case KZOO_I8: return KZOO_COMPUTE_INT32;
    default: return KZOO_COMPUTE_FP32;
  }
}

}  // namespace kzoo
