// A plugin as it was written when the ABI was at 1.1: from that header, kept beside this file, and
// nothing else.
#include "abi.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

constexpr kzoo_signature kFloats{KZOO_F32, KZOO_F32, KZOO_F32, KZOO_COMPUTE_FP32};

kzoo_status decline(kzoo_text* reason, const char* words) {
  const std::size_t length =
      std::min<std::size_t>(std::strlen(words), static_cast<std::size_t>(reason->capacity) - 1);
  std::memcpy(reason->data, words, length);
  reason->data[length] = '\0';
  return KZOO_UNSUPPORTED;
}

kzoo_status supports(const kzoo_variant*, const kzoo_problem* p, const kzoo_device*,
                     kzoo_text* reason) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(p);
  if (std::any_of(bytes + sizeof *p, bytes + p->struct_size,
                  [](unsigned char b) { return b != 0; }))
    return decline(reason, "the problem has options newer than 1.1");
  if (p->type_a != KZOO_F32 || p->type_b != KZOO_F32 || p->type_c != KZOO_F32)
    return decline(reason, "it computes f32");
  if (p->layout_a != KZOO_ROW_MAJOR || p->layout_b != KZOO_ROW_MAJOR)
    return decline(reason, "only row-major matrices are supported");
  return KZOO_OK;
}

std::uint64_t workspace_bytes(const kzoo_variant*, const kzoo_problem*, const kzoo_device*) {
  return 0;
}

kzoo_status create(const kzoo_variant*, const kzoo_problem* p, const kzoo_device*, void** instance,
                   kzoo_text*) {
  *instance = new kzoo_problem(*p);
  return KZOO_OK;
}

kzoo_status run(const kzoo_variant*, void* instance, const kzoo_arguments* args, kzoo_text*) {
  const auto& p = *static_cast<const kzoo_problem*>(instance);
  const auto* a = static_cast<const float*>(args->a);
  const auto* b = static_cast<const float*>(args->b);
  auto* c = static_cast<float*>(args->c);
  const auto alpha = static_cast<float>(p.alpha), beta = static_cast<float>(p.beta);
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < p.k; ++k) sum += a[i * p.lda + k] * b[k * p.ldb + j];
      float& out = c[i * p.ldc + j];
      out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
    }
  }
  return KZOO_OK;
}

void destroy(const kzoo_variant*, void* instance) { delete static_cast<kzoo_problem*>(instance); }

constexpr kzoo_variant kVariants[] = {{sizeof(kzoo_variant), "plain", "the textbook product",
                                       &kFloats, 1, 0, nullptr, &supports, &workspace_bytes,
                                       &create, &run, &destroy, 0, 0}};

}  // namespace

extern "C" __attribute__((visibility("default"))) const kzoo_plugin KZOO_PLUGIN_SYMBOL;
const kzoo_plugin KZOO_PLUGIN_SYMBOL = {sizeof(kzoo_plugin),
                                        KZOO_ABI_MINOR,
                                        KZOO_CPU,
                                        "abi_1_1",
                                        "Written for version 1.1 of the ABI",
                                        "",
                                        kVariants,
                                        1,
                                        sizeof(kzoo_variant),
                                        1,
                                        0};
static_assert(KZOO_ABI_MINOR == 1 && sizeof(kzoo_problem) == 104);
