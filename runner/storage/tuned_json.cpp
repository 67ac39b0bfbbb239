#include "storage/tuned_json.hpp"

#include "core/kernel_name.hpp"
#include "input/read_file.hpp"
#include "storage/field.hpp"
#include "storage/parts_json.hpp"
#include "storage/results_json.hpp"

#include <nlohmann/json.hpp>

namespace kzoo::storage {

void map(auto& io, is<results::tuned_kernel> auto& k) {
  io("plugin", k.kernel.plugin);
  io("variant", k.kernel.variant);
  io.require(is_identifier(k.kernel.plugin) && is_identifier(k.kernel.variant),
             "expected a plugin and a variant of letters, digits, '_', '.' and '-'");
  io("precision", k.precision, kPrecision);
  io("median_ms", k.median_ms);
  io("interval_ms", k.interval_ms, kInterval);
  io.require("median_ms", k.median_ms >= 0, "expected a time, from 0 on");
  map_speedup(io, k.speedup);
  io("stopped_by", k.stopped);
  io("parameters", k.parameters, kPoint);
  io("options", k.options);
}

void map(auto& io, is<results::tuned_problem> auto& p) {
  io("problem", p.problem);
  io("ranked", p.ranked);
  io("ties", p.ties);
  io("open", p.open);
}

void map(auto& io, is<results::tuned_plugin> auto& p) {
  io("name", p.name);
  io.require(is_identifier(p.name),
             "expected a plugin's name of letters, digits, '_', '.' and '-'");
  io("source", p.source);
  io("source_sha256", p.source_sha256);
  io("file", p.file);
  io("build_args", p.build_args);
  io("build", p.build);
  if (io.has("missing_headers", !p.missing.empty())) io("missing_headers", p.missing);
}

void map(auto& io, is<results::tuning_cost> auto& c) {
  io("points", c.points);
  io("from_cache", c.from_cache);
  io("not_compiled", c.not_compiled);
  io.later("left_out", c.left_out);
  io("compile_seconds", c.compile_seconds);
  io("judged_cells", c.judged);
  io("judge_seconds", c.judge_seconds);
  io("timed_cells", c.timed);
  io("time_seconds", c.time_seconds);
  io("stopped_early", c.stopped);
}

void map(auto& io, is<results::tuned> auto& t) {
  io.schema(kTunedSchema);
  io.object("runner", [&](auto& runner) { runner("version", t.version); });
  io("host", t.host);
  io("started", t.started);
  io("wall_seconds", t.wall_seconds);
  io("device", t.device);
  io("compute_capability", t.compute_capability);
  io("experiment", t.experiment);
  io("tier", t.tier);
  io("baseline", t.baseline);
  io("budget_seconds", t.budget_seconds);
  io("cost", t.cost);
  io("plugins", t.plugins);
  io("problems", t.problems);
}

std::string to_text(const results::tuned& t) { return dumped(to_value(t), 2) + '\n'; }

results::tuned read_tuned(const std::filesystem::path& path) {
  constexpr input::file_kind kTunedFile{"the outcome of tuning", ".json", 64};
  const std::string file = path.string();
  const nlohmann::ordered_json content = parse(input::read_file(path, kTunedFile), {file, 1});
  results::tuned t;
  from_value(field(content, file), t);
  return t;
}

}  // namespace kzoo::storage
