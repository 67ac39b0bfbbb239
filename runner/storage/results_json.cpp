#include "storage/results_json.hpp"

#include "core/sha256.hpp"
#include "storage/peaks_json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace kzoo::storage {
namespace {

using json = nlohmann::ordered_json;

json to_json(const problem& p) {
  return {{"name", problem_name(p)},
          {"m", p.m},
          {"n", p.n},
          {"k", p.k},
          {"dtype", type_name(p.dtype)},
          {"alpha", p.alpha},
          {"beta", p.beta},
          {"lda", p.lda()},
          {"ldb", p.ldb()},
          {"ldc", p.ldc()},
          {"fill", fill_name(p.data)},
          {"padding", p.padding},
          {"seed", p.seed}};
}

json to_json(const reference::accuracy& a) {
  return {{"max_abs_error", a.max_abs_error},
          {"max_rho", a.max_rho},
          {"rho_over_sqrt_k", a.rho_over_sqrt_k},
          {"worst_of_allowed", a.worst_of_allowed},
          {"worst_at", {a.worst_row, a.worst_col}},
          {"relative_frobenius", a.relative_frobenius},
          {"digits", a.digits},
          {"rows_checked", a.rows_checked}};
}

json to_json(const reference::error_map& map) {
  json first = json::array();
  for (const reference::differing& d : map.first) {
    first.push_back({{"row", d.row},
                     {"column", d.col},
                     {"expected", d.expected},
                     {"got", d.got},
                     {"unwritten", d.unwritten}});
  }
  return {{"rows_per_line", map.rows_per_line},
          {"columns_per_character", map.columns_per_character},
          {"map", map.picture},
          {"first", std::move(first)}};
}

json to_json(const timing::summary& t) {
  json j{{"median_ms", t.median_ms},
         {"min_ms", t.min_ms},
         {"spread", t.spread},
         {"clock", timing::clock_name(t.clock)},
         {"cache", timing::caches_name(t.caches)},
         {"noise", t.relative_half_width},
         {"stopped_by", t.out_of_time ? "time" : "noise"},
         {"samples_ms", t.samples_ms},
         {"rounds", t.rounds}};
  if (t.clock != timing::clock::gpu) return j;
  j["sm_mhz"] = t.sm_mhz;
  j["throttled"] = t.throttled;
  j["low_clock"] = t.low_clock;
  return j;
}

json to_json(const results::launch& l) {
  return {{"grid", l.grid},
          {"block", l.block},
          {"dynamic_shared", l.dynamic_shared},
          {"static_shared", l.static_shared},
          {"local_bytes", l.local_bytes},
          {"registers", l.registers},
          {"resident_warps", l.resident_warps},
          {"most_warps", l.most_warps}};
}

json to_json(const roofline::floor& f) {
  return {{"ms", f.ms}, {"resource", roofline::resource_name(f.resource)}};
}

template <class T>
json optional_number(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

json to_json(const std::optional<timing::ratio>& r) {
  return r && r->likely ? json{r->likely->low, r->likely->high} : json();
}

json to_json(const timing::end_to_end& e) {
  return {{"allocate_ms", e.allocate_ms},
          {"to_device_ms", e.to_device_ms},
          {"kernel_ms", e.kernel_ms},
          {"to_host_ms", e.to_host_ms},
          {"total_ms", e.total_ms()}};
}

json to_json(const results::conditions& c) {
  return {{"sm_mhz", optional_number(c.sm_mhz)},
          {"memory_mhz", optional_number(c.memory_mhz)},
          {"celsius", optional_number(c.celsius)},
          {"watts", optional_number(c.watts)},
          {"power_limit_watts", optional_number(c.power_limit_watts)},
          {"clock_reasons", c.clock_reasons}};
}

json published_labels(const results::published& p) {
  json labels = json::array();
  for (const results::published_column& column : p.columns) labels.push_back(column.label);
  return labels;
}

json to_json(const results::pivot& p) {
  return {{"rows", results::axis_name(p.rows)},
          {"columns", results::axis_name(p.columns)},
          {"value", results::value_name(p.value)}};
}

}  // namespace

json to_json(const results::device& d) {
  return {{"id", d.id}, {"name", d.name}, {"memory_bytes", d.memory_bytes}, {"facts", d.facts}};
}

json to_json(const results::plugin_record& p) {
  json j{{"name", p.name}, {"file", p.file.string()}, {"sha256", p.sha256}};
  if (p.description) {
    j["id"] = p.description->id;
    j["summary"] = p.description->summary;
    j["build"] = p.description->build_info;
    j["native"] = p.description->native;
  } else {
    j["problem"] = p.problem;
  }
  return j;
}

json to_json(const std::vector<results::finding>& findings) {
  json list = json::array();
  for (const results::finding& f : findings) {
    list.push_back(
        {{"check", f.check}, {"outcome", results::outcome_name(f.outcome)}, {"detail", f.detail}});
    if (f.errors) list.back()["errors"] = to_json(*f.errors);
  }
  return list;
}

json to_json(const results::document& d, const results::cell& c) {
  json published = json::object();
  for (std::size_t i = 0; i < d.experiment.published.columns.size(); ++i) {
    if (const auto ms = d.published_ms(c, i)) {
      published[d.experiment.published.columns[i].label] = *ms;
    }
  }
  json launches = json::array();
  for (const results::launch& l : c.launches) launches.push_back(to_json(l));
  const std::optional<timing::ratio> speedup = d.speedup(c);
  const auto floor = d.floor_of(c);
  const bool known_precision = std::ranges::find(kPrecisions, c.declared) != kPrecisions.end();
  json j{{"plugin", c.kernel.plugin},
         {"variant", c.kernel.variant},
         {"device", c.device},
         {"problem", to_json(d.problem_of(c))},
         {"precision", known_precision ? json(precision_name(c.declared)) : json()},
         {"verdict", verdict_name(c.verdict)},
         {"reason", c.reason},
         {"accuracy", c.accuracy ? to_json(*c.accuracy) : json()},
         {"time", c.time ? to_json(*c.time) : json()},
         {"hot_time", c.hot_time ? to_json(*c.hot_time) : json()},
         {"checks", to_json(c.findings)},
         {"errors", c.errors ? to_json(*c.errors) : json()},
         {"launches", std::move(launches)},
         {"gflops", optional_number(d.gflops(c))},
         {"share_of_peak", optional_number(d.share_of_peak(c))},
         {"floor", floor ? to_json(*floor) : json()},
         {"speedup_over_baseline", speedup ? json(speedup->value) : json()},
         {"speedup_interval", to_json(speedup)}};
  if (c.conditions.any()) j["conditions"] = to_json(c.conditions);
  if (c.end_to_end) j["end_to_end"] = to_json(*c.end_to_end);
  if (!published.empty()) j["published_ms"] = published;
  return j;
}

json to_json(const results::document& d, const results::agreement& a) {
  return {{"problem", problem_name(d.experiment.problems[a.problem])},
          {"a", a.a},
          {"b", a.b},
          {"max_abs_diff", a.difference.max_abs_diff},
          {"worst_of_allowed", a.difference.worst_of_allowed},
          {"worst_at", {a.difference.worst_row, a.difference.worst_col}},
          {"agree", a.difference.agree}};
}

std::string dumped(const json& j, int indent) {
  return j.dump(indent, ' ', false, json::error_handler_t::replace);
}

json to_json(const results::document& d) {
  const results::experiment& e = d.experiment;
  json j{{"schema", kSchema},
         {"runner", {{"version", d.version}}},
         {"host", d.host},
         {"started", d.started},
         {"wall_seconds", d.wall_seconds},
         {"experiment",
          {{"file", e.file.string()},
           {"title", e.title},
           {"intended_device", e.intended_device},
           {"baseline", e.baseline ? json(e.baseline->text) : json()},
           {"timing",
            {{"enabled", e.timing.enabled},
             {"mode", results::mode_name(e.timing.mode)},
             {"rounds", e.timing.rounds},
             {"warmup", e.timing.warmup},
             {"min_samples", e.timing.min_samples},
             {"max_noise", e.timing.max_relative_half_width},
             {"max_seconds", e.timing.max_seconds},
             {"end_to_end", e.timing.end_to_end},
             {"fresh_processes", e.timing.fresh_processes}}},
           {"verify",
            {{"tier", tier_name(e.verify.tier)},
             {"timeout_seconds", e.verify.timeout_seconds},
             {"impossible_time", results::impossible_time_name(e.verify.impossible_time)}}},
           {"published_source", e.published.source},
           {"published_columns", published_labels(e.published)},
           {"pivot", e.pivot_table ? to_json(*e.pivot_table) : json()},
           {"overrides",
            {{"device", e.overridden.device ? json(*e.overridden.device) : json()},
             {"plugins", e.overridden.plugins},
             {"sizes", e.overridden.sizes},
             {"tier", e.overridden.tier ? json(*e.overridden.tier) : json()}}},
           {"sha256", sha256(e.text)},
           {"text", e.text}}},
         {"invocation",
          {{"plugin_folders", d.invoked.plugin_folders}, {"in_process", d.invoked.in_process}}},
         {"device", to_json(d.device)},
         {"devices", d.devices},
         {"ceilings", d.peaks ? to_json(*d.peaks, detail::summary) : json()},
         {"notes", d.notes},
         {"planned_cells", d.planned}};
  json plugins = json::array(), cells = json::array(), agreements = json::array();
  for (const results::plugin_record& p : d.plugins) plugins.push_back(to_json(p));
  for (const results::cell& c : d.cells) cells.push_back(to_json(d, c));
  for (const results::agreement& a : d.agreements) agreements.push_back(to_json(d, a));
  j["plugins"] = std::move(plugins);
  j["cells"] = std::move(cells);
  j["agreement"] = std::move(agreements);
  return j;
}

}  // namespace kzoo::storage
