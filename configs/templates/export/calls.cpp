#include <kzoo/exported.hpp>

#pragma GCC visibility push(default)

#include "{{name}}.h"

extern "C" {
{{#units}}
extern const kzoo_plugin {{symbol}};  // {{plugin}}
{{/units}}
}

#pragma GCC visibility pop
{{#functions}}

{{declaration}} {
  // Never destroyed: other threads may call while the program ends.
  static auto& kernels = *new kzoo::exported::table({
{{#choices}}
      {{{sizes}}, {{symbol}}, {{variant}}, {{kernel}}},
{{/choices}}
  });
  kzoo_problem p{};
  p.m = m, p.n = n, p.k = k;
  p.lda = lda, p.ldb = ldb, p.ldc = ldc;
  p.type_a = {{type_a}}, p.type_b = {{type_b}}, p.type_c = {{type_c}};  // {{types}}
  p.layout_a = {{layout_a}}, p.layout_b = {{layout_b}};
  p.alpha = alpha, p.beta = beta;
{{#scaled}}
  p.scale_a = scale_a, p.scale_b = scale_b;
{{/scaled}}
{{#batches}}
  if (batch < 1) return "the batch must be at least 1";
  p.batch = batch, p.stride_a = stride_a, p.stride_b = stride_b, p.stride_c = stride_c;
{{/batches}}
  return kernels.run(p, a, b, c, stream);
}
{{/functions}}
