#pragma once
// Which devices the steps on WMMA run on.

#include <kzoo/plugin.hpp>

namespace common {

// The base of variants: tensor cores take f16 from sm_75 on, bf16 from sm_80 on.
struct from_sm75 {
  static constexpr unsigned compute_capability = 75;
  static const char* supports(const kzoo_device&) { return nullptr; }
  static const char* supports(const kzoo_problem& p, const kzoo_device& d) {
    return d.kind == KZOO_CUDA && d.compute_capability < 80 && p.type_a != KZOO_F16
               ? "tensor cores take bf16 from sm_80 on"
               : nullptr;
  }
};

}  // namespace common
