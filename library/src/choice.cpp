#include "choice.hpp"

#include <kzoo/kzoo.h>
#include <kzoo/caller.hpp>
#include <kzoo/error.hpp>
#include <kzoo/identifier.hpp>
#include <kzoo/type_names.hpp>

#include <algorithm>
#include <array>
#include <span>

namespace kzoo::library {
namespace {

const kzoo_signature* signature_for(const kzoo_variant& v, const kzoo_problem& p) {
  const kzoo_signature* end = v.signatures + v.signature_count;
  const kzoo_signature* found = std::find_if(v.signatures, end, [&](const kzoo_signature& s) {
    return s.type_a == p.type_a && s.type_b == p.type_b && s.type_c == p.type_c;
  });
  return found == end ? nullptr : found;
}

// A plugin's name becomes a file name, so it must not be a path.
void require_name(const std::string& part, const std::string& whole) {
  if (is_identifier(part)) return;
  throw error(KZOO_INVALID_ARGUMENT, "'" + whole +
                                         "' names no kernel: plugin or plugin:variant, without "
                                         "spaces, of letters, digits, '_', '.' and '-'");
}

}  // namespace

kernel_names::kernel_names(const plugin_finder& plugins, std::string_view declined)
    : plugins_(plugins), declined_(split(declined, ',')) {
  for (const std::string& name : declined_) require_name(name, name);
}

std::vector<candidate> kernel_names::resolve(const std::string& name) const {
  const std::string plugin_name = name.substr(0, name.find(':'));
  const bool all = name.size() == plugin_name.size();
  require_name(plugin_name, name);
  if (!all) require_name(name.substr(plugin_name.size() + 1), name);
  if (std::ranges::find(declined_, plugin_name) != declined_.end()) return {{name, {}}};
  plugin* of = plugins_.find(plugin_name);
  if (of == nullptr) {
    throw error(KZOO_UNAVAILABLE,
                "there is no plugin '" + plugin_name + "' in " + plugins_.places());
  }
  std::vector<candidate> found;
  std::string known;
  for (std::uint32_t i = 0; i < of->descriptor->variant_count; ++i) {
    const kernel k{of, &of->variant(i)};
    if (all || k.name() == name) found.push_back({k.name(), k});
    known += (known.empty() ? "" : ", ") + std::string(k.variant->id);
  }
  if (found.empty()) {
    throw error(KZOO_UNAVAILABLE, "there is no kernel '" + name + "': the variants of " +
                                      plugin_name + " are " + known);
  }
  return found;
}

std::vector<candidate> kernel_names::resolve_list(std::string_view names) const {
  std::vector<candidate> all;
  for (const std::string& name : split(names, ',')) {
    std::ranges::move(resolve(name), std::back_inserter(all));
  }
  if (all.empty()) {
    throw error(KZOO_INVALID_ARGUMENT, "'" + std::string(names) + "' names no kernel");
  }
  return all;
}

std::vector<candidate> kernel_names::defaults(kzoo_device_kind kind) const {
  // Faster kernels first, at the end a kernel for every problem. Simulated kernels need a name.
  constexpr std::array kOnGpu{"dispatch:fp32_split", "dispatch:fp32", "split_fp16", "pipelined",
                              "every_type"};
  constexpr std::array kOnCpu{"openblas", "serial:ikj", "serial:ijk"};
  std::vector<candidate> all;
  const bool is_gpu = kind == KZOO_CUDA;
  for (const char* name : is_gpu ? std::span<const char* const>(kOnGpu) : kOnCpu) {
    try {
      std::ranges::move(resolve(name), std::back_inserter(all));
    } catch (const error&) {
      // not built here, or cannot be loaded here
    }
  }
  if (all.empty()) {
    throw error(KZOO_UNAVAILABLE, "none of the plugins that are used by default is in " +
                                      plugins_.places() +
                                      ": set options.plugins or KZOO_PLUGIN_PATH");
  }
  return all;
}

std::string objection(const kernel& k, const kzoo_problem& p, const kzoo_device& d,
                      const allowance& allowed) {
  const kzoo_signature* s = signature_for(*k.variant, p);
  if (s == nullptr) return "it does not compute " + type_names(p.type_a, p.type_b, p.type_c);
  const bool is_split = s->compute == KZOO_COMPUTE_FP32_SPLIT;
  if (is_split ? allowed.precision != s->compute : s->compute != usual_precision(p.type_a)) {
    return "it computes in a precision that options.precision does not allow";
  }
  if (k.variant->nondeterministic != 0 && !allowed.nondeterministic) {
    return "it may round differently from run to run, and options.nondeterministic is 0";
  }
  reason given;
  if (k.variant->supports(k.variant, &p, &d, given.text()) == KZOO_OK) return "";
  const std::string why = given.words();
  return why.empty() ? "it gives no reason" : why;
}

kernel accept(const candidate& chosen) {
  if (chosen.what) return *chosen.what;
  throw error(KZOO_DECLINED, chosen.name + " is chosen, of a plugin in options.declined");
}

kernel first_of::choose(const kzoo_problem& p, const kzoo_device& d) const {
  std::string why;
  bool has_types = false;
  for (const candidate& c : candidates_) {
    if (!c.what) return accept(c);
    const kernel& k = *c.what;
    has_types = has_types || signature_for(*k.variant, p) != nullptr;
    const std::string words = objection(k, p, d, allowed_);
    if (words.empty()) return k;
    why += "; " + c.name + ": " + words;
  }
  throw error(has_types ? KZOO_UNSUPPORTED : KZOO_UNSUPPORTED_TYPE,
              "no kernel takes the problem" + why);
}

}  // namespace kzoo::library
