// torch.ops.{{name}}.matmul(a, b), for matrices of the types and layouts that {{name}}.h names.
#include <torch/extension.h>
{{#cuda}}
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
{{/cuda}}

#include <algorithm>
#include <cstdint>

#include "{{name}}.h"

namespace {

// Whether its lines along a dimension lie in memory one after the other: 0 for a row-major matrix.
bool is_along(const at::Tensor& t, int lines) {
  return (t.size(1 - lines) <= 1 || t.stride(1 - lines) == 1) &&
         (t.size(lines) <= 1 || t.stride(lines) >= t.size(1 - lines));
}
std::int64_t ld(const at::Tensor& t, int lines) {
  return std::max<std::int64_t>({1, t.stride(lines), t.size(1 - lines)});
}

at::Tensor checked(const at::Tensor& c, const char* said) {
  TORCH_CHECK(said == nullptr, said);
  return c;
}

at::Tensor matmul(const at::Tensor& a, const at::Tensor& b) {
  TORCH_CHECK(a.dim() == 2 && b.dim() == 2 && a.size(1) == b.size(0), "{{name}}.matmul of ",
              a.sizes(), " and ", b.sizes());
  const std::int64_t m = a.size(0), n = b.size(1), k = a.size(1);
{{#cuda}}
  const c10::cuda::CUDAGuard guard(a.device());
  void* const stream = c10::cuda::getCurrentCUDAStream().stream();
{{/cuda}}
{{^cuda}}
  void* const stream = nullptr;
{{/cuda}}
{{#functions}}
{{#of_torch}}
  if (a.scalar_type() == at::{{torch_a}} && b.scalar_type() == at::{{torch_b}} && is_along(a, {{along_a}}) &&
      is_along(b, {{along_b}})) {
    const at::Tensor c = at::empty({m, n}, a.options().dtype(at::{{torch_c}}));
    return checked(c, {{name}}_{{kind}}(m, n, k, 1, static_cast<const {{c_type_a}}*>(a.data_ptr()), ld(a, {{along_a}}),
                              static_cast<const {{c_type_b}}*>(b.data_ptr()), ld(b, {{along_b}}), 0,
                              static_cast<{{c_type_c}}*>(c.data_ptr()), ld(c, 0){{#scaled}}, 1, 1{{/scaled}}{{#batches}}, 1, 0, 0, 0{{/batches}}, stream));
  }
{{/of_torch}}
{{/functions}}
  TORCH_CHECK(false, "{{name}}.h has no function for ", a.scalar_type(), " and ", b.scalar_type(),
              " of these layouts");
  return at::Tensor();
}

}  // namespace

TORCH_LIBRARY({{name}}, m) { m.def("matmul(Tensor a, Tensor b) -> Tensor"); }
TORCH_LIBRARY_IMPL({{name}}, {{#cuda}}CUDA{{/cuda}}{{^cuda}}CPU{{/cuda}}, m) { m.impl("matmul", TORCH_FN(matmul)); }
