#pragma once
// What the two sides of a worker say to each other, apart from the requests in session.hpp.

#include "core/problem.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace kzoo {

inline void to_json(nlohmann::json& j, const problem& p) {
  j = {{"m", p.m},
       {"n", p.n},
       {"k", p.k},
       {"dtype", type_name(p.dtype)},
       {"alpha", p.alpha},
       {"beta", p.beta},
       {"fill", fill_name(p.data)},
       {"padding", p.padding},
       {"seed", p.seed}};
}

inline void from_json(const nlohmann::json& j, problem& p) {
  j.at("m").get_to(p.m);
  j.at("n").get_to(p.n);
  j.at("k").get_to(p.k);
  p.dtype = type_from_name(j.at("dtype").get<std::string>());
  j.at("alpha").get_to(p.alpha);
  j.at("beta").get_to(p.beta);
  for (const fill f : kFills) {
    if (j.at("fill") == fill_name(f)) p.data = f;
  }
  j.at("padding").get_to(p.padding);
  j.at("seed").get_to(p.seed);
}

}  // namespace kzoo

namespace kzoo::workers {

struct signature_description {
  kzoo_type dtype{};  // 0 when A, B and C differ
  kzoo_precision compute{};
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(signature_description, dtype, compute)

struct variant_description {
  std::string id, summary;
  std::uint32_t compute_capability = 0;
  std::vector<signature_description> signatures;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(variant_description, id, summary, compute_capability, signatures)

// A plugin's descriptor, as it travels.
struct plugin_description {
  std::string id, summary, build_info;
  kzoo_device_kind device{};
  bool native = false;
  std::vector<variant_description> variants;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(plugin_description, id, summary, build_info, device, native,
                                   variants)

// kzoo_launch, as it travels and as results keep it; the same units.
struct launch {
  std::array<std::uint32_t, 3> grid{}, block{};
  std::uint64_t dynamic_shared = 0, static_shared = 0, local_bytes = 0;
  std::uint32_t registers = 0, resident_warps = 0, most_warps = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(launch, grid, block, dynamic_shared, static_shared, local_bytes,
                                   registers, resident_warps, most_warps)

// Elements of the inputs that a kernel changed.
struct changes {
  std::int64_t a = 0, b = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(changes, a, b)

struct run_report {
  changes changed;
  std::vector<launch> launches;  // of plugins that launch through the SDK
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(run_report, changed, launches)

struct sample_report {
  std::vector<double> samples_ms;
  bool cold_cache = false;
  bool out_of_time = false;  // max_seconds ended it before the number of samples was reached
  changes changed;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(sample_report, samples_ms, cold_cache, out_of_time, changed)

}  // namespace kzoo::workers
