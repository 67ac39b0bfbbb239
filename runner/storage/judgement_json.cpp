// The output of `runner judge` for programs.

#include "storage/parts_json.hpp"
#include "storage/results_json.hpp"
#include "storage/schema.hpp"

#include <nlohmann/json.hpp>

namespace kzoo::storage {

namespace {

std::optional<std::string> or_null(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional<std::string>(text);
}

struct device_name {
  const std::string &id, &name;
};

struct judgement {
  const results::file_judgement& of;
  const judgement_setting* how;  // null: it was only compiled
};

}  // namespace

void describe(auto& fields, const results::outcome_words& w) {
  fields("status", or_null(w.status), "verdict", or_null(w.verdict), "check", or_null(w.check),
         KZOO_MEMBERS(w, reason));
}

void describe(auto& fields, const device_name& d) { fields(KZOO_MEMBERS(d, id, name)); }

void describe(auto& fields, const results::judged_problem& p) {
  const auto of_time = [&](auto f) { return p.time ? std::optional(f(*p.time)) : std::nullopt; };
  fields(KZOO_MEMBERS(p, problem, kernel), "precision",
         named{p.precision, kPrecisions, precision_name});
  describe(fields, p.came_of_it);
  fields("time_ms", of_time([](const auto& t) { return t.median_ms; }), "clock",
         of_time([](const auto& t) { return t.clock; }), "cache",
         of_time([](const auto& t) { return t.caches; }), KZOO_MEMBERS(p, gflops), "speedup",
         p.speedup ? std::optional(p.speedup->value) : std::nullopt, "speedup_interval",
         p.speedup ? p.speedup->likely : std::nullopt, "baseline_precision",
         named{p.baseline_precision, kPrecisions, precision_name});
}

void describe(auto& fields, const judgement& j) {
  const results::file_judgement& f = j.of;
  fields.schema(kJudgementSchema);
  fields("runner", this_runner(), KZOO_MEMBERS(f, file));
  describe(fields, f.came_of_it);
  fields(KZOO_MEMBERS(f, host_code));
  const auto judged = [&] {
    const judgement_setting& how = *j.how;
    fields(KZOO_MEMBERS(how, tier), "device", device_name{how.device.id, how.device.name},
           "baseline", or_null(how.baseline), "precisions", precision_names(f.precisions),
           KZOO_MEMBERS(f, speedup), "calls", f.libraries, KZOO_MEMBERS(f, not_checked, problems));
  };
  fields.when("tier", j.how != nullptr, judged);
  fields("library", or_null(f.library), "sha256", or_null(f.sha256));
  fields.when("tier", j.how != nullptr,
              [&] { fields(KZOO_MEMBERS((*j.how), command, wall_seconds)); });
}

std::string to_line(const results::file_judgement& f, const judgement_setting& how) {
  return dumped(to_value(judgement{f, &how}), -1);
}

std::string to_line(const results::file_judgement& f) {
  return dumped(to_value(judgement{f, nullptr}), -1);
}

nlohmann::ordered_json judgement_schema() {
  const results::file_judgement any;
  const judgement_setting how;
  return record_schema(judgement{any, &how});
}

}  // namespace kzoo::storage
