#include "storage/documents_json.hpp"

#include "core/kernel_name.hpp"
#include "input/diagnostics.hpp"
#include "os/files.hpp"
#include "storage/describe.hpp"
#include "storage/field.hpp"
#include "storage/parts_json.hpp"
#include "storage/results_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <system_error>

namespace kzoo::storage {

using json = nlohmann::ordered_json;
namespace fs = std::filesystem;

void describe(auto& fields, const described_device& d) {
  describe(fields, d.device);
  fields(KZOO_MEMBERS(d, peaks));
}

namespace {

struct device_list {
  const std::vector<described_device>& devices;
};

template <class T>
T read_record(const fs::path& path, const input::file_kind& kind) {
  const std::string file = path.string();
  const json content = parse(input::read_file(path, kind), {file, 1});
  T record;
  from_value(field(content, file), record);
  return record;
}

}  // namespace

void describe(auto& fields, const device_list& l) {
  fields.schema("kzoo.devices/1");
  fields(KZOO_MEMBERS(l, devices));
}

std::string to_text(const std::vector<described_device>& all) {
  return dumped(to_value(device_list{all}), 2) + '\n';
}

json devices_schema() { return record_schema(device_list{{}}); }

json peaks_schema() { return record_schema(roofline::peaks()); }

json to_json(const roofline::peaks& c) { return to_value(c); }

roofline::peaks load_peaks(const fs::path& path) try {
  constexpr input::file_kind kPeaksFile{"a file of peaks", ".json", 1};
  return read_record<roofline::peaks>(path, kPeaksFile);
} catch (const input::invalid& e) {
  throw input::invalid(fmt::format(
      "{}\n  It holds the measured peaks of this device: measure them again with `runner devices "
      "--measure`, or remove it.",
      e.what()));
}

void store_peaks(const roofline::peaks& c, const fs::path& file) {
  constexpr const char* kElsewhere = "KZOO_PEAKS names another folder for the measured peaks";
  std::error_code fault;
  fs::create_directories(file.parent_path(), fault);
  if (fault) {
    throw not_written(fmt::format("{} cannot be made: {}; {}", file.parent_path().string(),
                                  fault.message(), kElsewhere));
  }
  try {
    replace_file(file, dumped(to_json(c), 2) + '\n');
  } catch (const not_written& e) {
    throw not_written(fmt::format("{}; {}", e.what(), kElsewhere));
  }
}

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

json tuned_schema() { return record_schema(results::tuned()); }

results::tuned read_tuned(const fs::path& path) {
  constexpr input::file_kind kTunedFile{"the outcome of tuning", ".json", 64};
  return read_record<results::tuned>(path, kTunedFile);
}

}  // namespace kzoo::storage
