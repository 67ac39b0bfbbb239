#include <kzoo/tensor_function.hpp>
#include "{{source}}"

namespace {
struct {{struct}} {
{{>plugin/members}}
  static constexpr bool takes_c = {{takes_c}};
  static at::Tensor call([[maybe_unused]] const kzoo::tensors::product& kzoo_x,
                         at::Tensor& kzoo_A, at::Tensor& kzoo_B,
                         [[maybe_unused]] at::Tensor& kzoo_C) {
{{entry_line}}
    {{call}};
  }
};
}  // namespace

KZOO_PLUGIN({{name}}, {{summary}}, kzoo::variant<kzoo::tensor_function<{{struct}}>>({{id}}, {{about}}));
