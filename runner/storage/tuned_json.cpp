#include "storage/tuned_json.hpp"

#include "core/kernel_name.hpp"
#include "input/read_file.hpp"
#include "storage/field.hpp"
#include "storage/parts_json.hpp"
#include "storage/results_json.hpp"
#include "storage/schema.hpp"

#include <nlohmann/json.hpp>

namespace kzoo::storage {

void describe(auto& fields, maybe_const<results::tuned_kernel> auto& k) {
  fields(KZOO_MEMBERS(k.kernel, plugin, variant));
  fields.require(is_identifier(k.kernel.plugin) && is_identifier(k.kernel.variant),
                 "expected a plugin and a variant of letters, digits, '_', '.' and '-'");
  fields("precision", named{k.precision, kPrecisions, precision_name},
         KZOO_MEMBERS(k, median_ms, interval_ms));
  fields.require("median_ms", k.median_ms >= 0, "expected a time, from 0 on");
  describe_speedup(fields, k.speedup);
  fields("stopped_by", k.stopped, "parameters", converted{k.parameters, kPoint},
         KZOO_MEMBERS(k, options));
}

void describe(auto& fields, maybe_const<results::tuned_problem> auto& p) {
  fields(KZOO_MEMBERS(p, problem, ranked, ties, open));
}

void describe(auto& fields, maybe_const<results::tuned_plugin> auto& p) {
  fields(KZOO_MEMBERS(p, name));
  fields.require(is_identifier(p.name),
                 "expected a plugin's name of letters, digits, '_', '.' and '-'");
  fields(KZOO_MEMBERS(p, source, source_sha256, file, build_args, build));
  fields.optional("missing_headers", p.missing);
}

void describe(auto& fields, maybe_const<results::tuning_cost> auto& c) {
  fields(KZOO_MEMBERS(c, points, from_cache, not_compiled));
  fields.later(KZOO_MEMBERS(c, left_out));
  fields.optional(KZOO_MEMBERS(c, not_drawn));
  fields(KZOO_MEMBERS(c, compile_seconds), "judged_cells", c.judged, KZOO_MEMBERS(c, judge_seconds),
         "timed_cells", c.timed, KZOO_MEMBERS(c, time_seconds), "stopped_early", c.stopped);
}

void describe(auto& fields, maybe_const<results::tuned> auto& t) {
  fields.schema(kTunedSchema);
  fields.object("runner", [&](auto& runner) { runner(KZOO_MEMBERS(t, version)); });
  fields(KZOO_MEMBERS(t, host, started, wall_seconds, device, compute_capability, experiment, tier,
                      baseline, budget_seconds, cost, plugins, problems));
}

std::string to_text(const results::tuned& t) { return dumped(to_value(t), 2) + '\n'; }

nlohmann::ordered_json tuned_schema() { return record_schema(results::tuned()); }

results::tuned read_tuned(const std::filesystem::path& path) {
  constexpr input::file_kind kTunedFile{"the outcome of tuning", ".json", 64};
  const std::string file = path.string();
  const nlohmann::ordered_json content = parse(input::read_file(path, kTunedFile), {file, 1});
  results::tuned t;
  from_value(field(content, file), t);
  return t;
}

}  // namespace kzoo::storage
