#pragma once
// What the two sides of a worker say to each other, apart from the requests in session.hpp.

#include "core/matrix_data.hpp"
#include "core/problem.hpp"
#include "timing/end_to_end.hpp"

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

namespace kzoo::data {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(changes, inside, outside, first_inside, first_outside)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(survey, outside, unwritten, not_finite)

}  // namespace kzoo::data

namespace kzoo::timing {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(end_to_end, allocate_ms, to_device_ms, kernel_ms, to_host_ms)

}  // namespace kzoo::timing

namespace kzoo::workers {

struct signature_description {
  kzoo_type dtype{};  // 0 when A, B and C differ
  kzoo_precision compute{};
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(signature_description, dtype, compute)

struct variant_description {
  std::string id, summary;
  std::uint32_t compute_capability = 0;
  bool nondeterministic = false;
  std::vector<signature_description> signatures;

  // What it promises for the element type; 0 where it does not have it.
  kzoo_precision declared(kzoo_type dtype) const {
    for (const signature_description& s : signatures)
      if (s.dtype == dtype) return s.compute;
    return 0;
  }
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(variant_description, id, summary, compute_capability,
                                   nondeterministic, signatures)

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

// What a kernel changed that is not its own to write.
struct changes {
  data::changes a, b, workspace;
  std::uint64_t workspace_bytes = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(changes, a, b, workspace, workspace_bytes)

// Scratch memory as a matrix of one row, so that there are zones around it too.
inline data::matrix workspace_spec(std::uint64_t bytes) {
  constexpr std::uint64_t kKey = 4;
  const auto words = static_cast<std::int64_t>(bytes / 4 + (bytes % 4 != 0));
  return {KZOO_F32, data::content::poison, 1, words, words, kKey};
}

// What of C goes into the window, unless its digest is one of `known`.
struct output_request {
  std::vector<std::uint64_t> known;
  bool wanted = true;
  // These rows without padding, and a survey of the rest; if empty, all of the buffer and no
  // survey.
  std::vector<std::int64_t> rows;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(output_request, known, wanted, rows)

struct output_report {
  std::uint64_t digest = 0;
  bool known = false;
  data::survey survey;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(output_report, digest, known, survey)

struct run_report {
  changes changed;
  output_report output;
  bool unfinished = false;       // C has changed after everything that is waited for was over
  std::vector<launch> launches;  // of plugins that launch through the SDK
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(run_report, changed, output, unfinished, launches)

// Sampling ends early at a result that is not known, so that it can be judged, unless `any_output`;
// and at a sample whose clock is known and below `least_mhz`, so that the device can have a moment.
struct sample_request {
  int warmup = 0, samples = 1;
  double warmup_seconds = 0;  // at least, where there is any warm-up; with compared clocks
  double max_seconds = 0;     // for the samples; one is always taken
  bool hot = false;           // back to back, caches as the run before left them
  bool compare_clocks = false;
  output_request output;
  bool any_output = false;
  double least_mhz = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(sample_request, warmup, samples, warmup_seconds, max_seconds,
                                   hot, compare_clocks, output, any_output, least_mhz)

struct sample_report {
  std::vector<double> samples_ms;
  std::vector<double> sm_mhz;  // of each; 0 where it is not known
  double seconds = 0;          // all samples together, with what is between them
  double warmup_seconds = 0;   // what came before them
  bool cold_cache = false;
  output_report output;               // of the last sample
  double host_ms = 0, stream_ms = 0;  // devices::clocks, 0 where there is one clock or nobody asked
  changes changed;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(sample_report, samples_ms, sm_mhz, seconds, warmup_seconds,
                                   cold_cache, output, host_ms, stream_ms, changed)

struct end_to_end_report {
  timing::end_to_end times;
  output_report output;  // of the C that came back
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(end_to_end_report, times, output)

}  // namespace kzoo::workers
