// The plugin of a packed kernel: makes its table of variants from the manifest when the library is
// loaded. Without a packed kernel the table is empty, and the runner refuses the plugin.

#include "loaded_kernel.hpp"
#include "payload.hpp"

#include <kzoo/plugin.hpp>

#include <algorithm>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace kzoo;
using manifest::kernel_variant;

// A kernel with an instance for each combination of types and layout in the manifest.
struct packed_variant {
  std::span<const kernel_variant> instances;
  std::vector<kzoo_signature> signatures;

  // The instance for the problem's types and layout; if none, the first, which rejects it.
  const kernel_variant& instance_for(const kzoo_problem& p) const {
    const auto found = std::ranges::find_if(instances, [&](const kernel_variant& v) {
      return v.type_a == p.type_a && v.type_b == p.type_b && v.type_c == p.type_c &&
             v.layout == layout_of(p);
    });
    return found == instances.end() ? instances.front() : *found;
  }
};

// The packed data, and its ABI description.
struct packed_plugin {
  packed_plugin();

  manifest::payload packed;
  std::string build_info;
  std::vector<packed_variant> kernels;
  std::vector<kzoo_variant> variants;
};

const packed_plugin& own_plugin() {
  static const packed_plugin plugin;
  return plugin;
}

const kernel_variant& manifest_of(const kzoo_variant* v, const kzoo_problem& p) {
  return static_cast<const packed_variant*>(v->context)->instance_for(p);
}

kzoo_status supports(const kzoo_variant* self, const kzoo_problem* given, const kzoo_device* d,
                     kzoo_text* reason) {
  return detail::guarded(reason, [&] {
    if (detail::has_unknown_fields(*given))
      throw error(KZOO_UNSUPPORTED, "the problem has options newer than this runner's SDK");
    const kzoo_problem p = detail::known_part(*given);
    const kernel_variant& v = manifest_of(self, p);
    if (d->compute_capability < v.compute_capability) {
      throw error(KZOO_UNSUPPORTED, "it needs sm_" + std::to_string(v.compute_capability) +
                                        ", the device is sm_" +
                                        std::to_string(d->compute_capability));
    }
    const granularity sizes{v.multiples[0], v.multiples[1], v.multiples[2], v.row_bytes};
    if (const std::string words = detail::size_objection(sizes, p); !words.empty())
      throw error(KZOO_UNSUPPORTED, words);
    manifest::plan_launch(v, p, *d);
  });
}

std::uint64_t workspace_bytes(const kzoo_variant* self, const kzoo_problem* p,
                              const kzoo_device* d) {
  std::uint64_t bytes = 0;
  const auto status = detail::guarded(nullptr, [&] {
    const kzoo_problem known = detail::known_part(*p);
    bytes = manifest::plan_launch(manifest_of(self, known), known, *d).workspace;
  });
  return status == KZOO_OK ? bytes : UINT64_MAX;
}

kzoo_status create(const kzoo_variant* self, const kzoo_problem* p, const kzoo_device* d,
                   void** instance, kzoo_text* text) {
  return detail::guarded(text, [&] {
    const manifest::payload& packed = own_plugin().packed;
    const kzoo_problem known = detail::known_part(*p);
    *instance = new manifest::loaded_kernel(packed.manifest, manifest_of(self, known),
                                            packed.kernels, known, *d);
  });
}

kzoo_status run(const kzoo_variant*, void* instance, const kzoo_arguments* args, kzoo_text* text) {
  return detail::guarded(text, [&] {
    const detail::launch_list_scope scope(args->launches);
    static_cast<const manifest::loaded_kernel*>(instance)->launch(*args);
  });
}

void destroy(const kzoo_variant*, void* instance) {
  delete static_cast<manifest::loaded_kernel*>(instance);
}

packed_plugin::packed_plugin() {
  try {
    packed = manifest::own_payload();
  } catch (const std::exception&) {
    return;
  }
  build_info = packed.manifest.build.empty() ? "compiled kernels of " + packed.manifest.kernel
                                             : packed.manifest.build;
  const std::vector<kernel_variant>& all = packed.manifest.variants;
  for (auto first = all.begin(), end = first; first != all.end(); first = end) {
    end = std::find_if(first, all.end(), [&](const auto& v) { return v.id != first->id; });
    packed_variant& k = kernels.emplace_back();
    k.instances = {first, end};
    for (const kernel_variant& v : k.instances) {
      const kzoo_signature s{v.type_a, v.type_b, v.type_c, v.precision};
      const auto is_same = [&](const kzoo_signature& known) {
        return std::memcmp(&known, &s, sizeof s) == 0;  // true if only the layout differs
      };
      if (std::ranges::none_of(k.signatures, is_same)) k.signatures.push_back(s);
    }
  }
  for (const packed_variant& k : kernels) {
    const kernel_variant& v = k.instances.front();
    variants.push_back({.struct_size = sizeof(kzoo_variant),
                        .id = v.id.c_str(),
                        .summary = v.summary.c_str(),
                        .signatures = k.signatures.data(),
                        .signature_count = static_cast<std::uint32_t>(k.signatures.size()),
                        .compute_capability = v.compute_capability,
                        .context = &k,
                        .supports = &supports,
                        .workspace_bytes = &workspace_bytes,
                        .create = &create,
                        .run = &run,
                        .destroy = &destroy,
                        .nondeterministic = v.nondeterministic,
                        .reserved = 0,
                        .multiple_m = v.multiples[0],
                        .multiple_n = v.multiples[1],
                        .multiple_k = v.multiples[2],
                        .row_alignment = v.row_bytes});
  }
}

kzoo_plugin describe() {
  const packed_plugin& own = own_plugin();
  const bool packed = !own.variants.empty();
  return {.struct_size = sizeof(kzoo_plugin),
          .abi_minor = KZOO_ABI_MINOR,
          .device = KZOO_CUDA,
          .id = packed ? own.packed.manifest.id.c_str() : "compiled_kernel",
          .summary = own.packed.manifest.summary.c_str(),
          .build_info = own.build_info.c_str(),
          .variants = own.variants.data(),
          .variant_count = static_cast<std::uint32_t>(own.variants.size()),
          .variant_stride = sizeof(kzoo_variant),
          .native = 0,
          .reserved = 0};
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const kzoo_plugin KZOO_PLUGIN_SYMBOL;
const kzoo_plugin KZOO_PLUGIN_SYMBOL = describe();
