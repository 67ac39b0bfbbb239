#pragma once
// What a program asks for, as a problem of an experiment.

#include "blas_call.hpp"
#include "core/problem.hpp"

#include <string>

namespace kzoo::preload {

// What a call says beside its arguments.
struct call_modes {
  bool has_scalars = true;  // alpha and beta are in host memory
  bool allows_tf32 = false;
  std::string epilogue;  // as experiments have it
};

struct asked_product {
  std::string why_not;  // no experiment has such a problem; "": the rest says which it is
  kzoo::problem problem;
  std::string epilogue;
  const char* allow = "";  // the lower precision that results may have
  bool is_packed = true;   // in memory, as an experiment's matrices are
};

inline asked_product no_product(const char* why) {
  asked_product none;
  none.why_not = why;
  return none;
}

asked_product product_of(const blas_call& call, const call_modes& modes);

}  // namespace kzoo::preload
