#pragma once

#include "results/plugin.hpp"
#include "worker/messages.hpp"

#include <nlohmann/json.hpp>

namespace kzoo {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(element_types, a, b, c)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(filling, kind, parameter, spread)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(scale_block, extent, depth)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(size_granularity, m, n, k, row_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(epilogue_stage, kind, type, low, high)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(problem, m, n, k, dtype, alpha, beta, data, padding, seed,
                                   layout, scale_a, scale_b, batch, batch_padding, batch_shared,
                                   epilogue, scale_block_a, scale_block_b, groups, group_rows,
                                   renewed)

}  // namespace kzoo

namespace kzoo::data {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(changes, inside, outside, first_inside, first_outside)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(survey, outside, unwritten, not_finite)

}  // namespace kzoo::data

namespace kzoo::timing {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(end_to_end, allocate_ms, to_device_ms, kernel_ms, to_host_ms)

}  // namespace kzoo::timing

namespace kzoo::results {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(results::signature_description, dtype, compute)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(results::variant_description, id, summary, compute_capability,
                                   nondeterministic, granularity, signatures)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(results::plugin_description, id, summary, build_info, device,
                                   native, variants, libraries)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(launch, grid, block, dynamic_shared, static_shared, local_bytes,
                                   registers, resident_warps, most_warps)

}  // namespace kzoo::results

namespace kzoo::worker {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(input_changes, seen, restored)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(changes, inputs, c, workspace, workspace_bytes, between)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(output_request, known, wanted, rows)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(output_report, digest, known, survey)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(judged_report, right, seed, row, wrong_rows, survey,
                                   earlier_seeds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(run_request, output, idle_device, fresh)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(run_report, changed, output, judged, unfinished, ms, launches)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(sample_request, warmup, samples, warmup_seconds, max_seconds,
                                   hot, least_mhz)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(sample_report, samples_ms, sm_mhz, seconds, warmup_seconds,
                                   total_seconds, cold_cache, judged, changed)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(sustain_request, seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(sustain_report, runs, ms, begin_seconds, end_seconds, judged,
                                   changed)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(memory_report, host, device, device_free, limits)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(pause_report, pause_ms)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(end_to_end_report, times, judged)

}  // namespace kzoo::worker
