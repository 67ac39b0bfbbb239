#pragma once
// The arguments of a call: checked, and turned into the problem of the kernels' ABI.

#include "stream_work.hpp"

#include <kzoo/kzoo.h>

#include <cstdint>
#include <optional>

namespace kzoo::library {

struct matrix_argument {
  const char *name, *ld_name;  // as kzoo.h calls them
  const void* data;
  kzoo_type type;
  std::int64_t ld, stride;
  kzoo_operation op;
};

struct gemm_arguments {
  matrix_argument a, b, c;
  void* out;  // C
  std::int64_t m, n, k;
  const void *alpha, *beta;
};

// Nothing if there is nothing to compute. Throws kzoo::error.
std::optional<product> to_product(const gemm_arguments& x, const kzoo_call& how);

}  // namespace kzoo::library
