#pragma once
// `operation` for a kernel in CUTLASS's types: what its 2.x and 3.x interfaces have in common. A
// type `Traits` has the CUTLASS type as `gemm`, and turns a problem into its arguments.

#include "operation.hpp"

#include <kzoo/error.hpp>

#include <cutlass/cutlass.h>

#include <algorithm>
#include <string>

namespace zoo_cutlass {

inline void check(cutlass::Status status, const char* what) {
  if (status != cutlass::Status::kSuccess) {
    throw kzoo::error(KZOO_ERROR, std::string(what) + ": " + cutlassGetStatusString(status));
  }
}

inline int products(const kzoo_problem& p) {
  return static_cast<int>(std::max<std::int64_t>(1, p.batch));
}

template <class Traits>
constexpr operation operation_of{
    .workspace_bytes =
        [](const kzoo_problem& p, const kzoo_device& d) {
          return Traits::gemm::get_workspace_size(Traits::arguments(p, d, {}));
        },
    .run =
        [](const kzoo_problem& p, const kzoo_device& d, const kzoo_arguments& args) {
          const auto arguments = Traits::arguments(p, d, args);
          typename Traits::gemm gemm;
          check(Traits::gemm::can_implement(arguments), "can_implement");
          const auto stream = static_cast<cudaStream_t>(args.stream);
          check(gemm.initialize(arguments, args.workspace, stream), "initialize");
          check(gemm.run(stream), "run");
        },
};

}  // namespace zoo_cutlass
