#include "storage/parts_json.hpp"

#include "os/sha256.hpp"
#include "storage/archive.hpp"

#include <nlohmann/json.hpp>

#include <vector>

namespace kzoo::storage {

void map(auto& io, is<results::timing_options> auto& t) {
  io("enabled", t.enabled);
  io("mode", t.mode);
  io("power", t.power);
  io("rounds", t.rounds);
  io("warmup", t.warmup);
  io("min_samples", t.min_samples);
  io("max_noise", t.max_relative_half_width);
  io("max_seconds", t.max_seconds);
  io("end_to_end", t.end_to_end);
  io("fresh_processes", t.fresh_processes);
  io("require_locked_clocks", t.require_locked_clocks);
  if (io.has("drop_slower", t.drop_slower)) io("drop_slower", t.drop_slower);
  if (io.has("budget_seconds", t.budget_seconds.has_value()))
    io("budget_seconds", t.budget_seconds);
}

void map(auto& io, is<results::verify_options> auto& v) {
  io("tier", v.tier);
  io("timeout_seconds", v.timeout_seconds);
  io("impossible_time", v.impossible_time);
}

void map(auto& io, is<results::pivot> auto& p) {
  io("rows", p.rows);
  io("columns", p.columns);
  io("value", p.value);
}

void map(auto& io, is<results::overrides> auto& o) {
  io("device", o.device);
  io("plugins", o.plugins);
  io("sizes", o.sizes);
  io("layouts", o.layouts);
  io("batches", o.batches);
  io("build_args", o.build_args);
  io("tier", o.tier);
  io.later("problems", o.problems);
  if (io.has("tune", o.tune)) io("tune", o.tune);
  if (io.has("allow", !o.allow.empty())) io("allow", o.allow);
  if (io.has("baseline", o.baseline.has_value())) io("baseline", o.baseline);
  if (io.has("budget_seconds", o.budget_seconds.has_value()))
    io("budget_seconds", o.budget_seconds);
}

namespace {

constexpr as kSelector{[](const selector& s) { return to_value(s.text); },
                       [](const field& f, selector& s) { s.text = f.text(); }};

constexpr as kLabels{[](const std::vector<results::published_column>& columns) {
                       std::vector<std::string> labels;
                       for (const auto& column : columns) labels.push_back(column.label);
                       return to_value(labels);
                     },
                     [](const field& f, std::vector<results::published_column>& columns) {
                       for (const field& label : f.elements())
                         columns.push_back({label.text(), {}});
                     }};

void members(auto& io, is<results::experiment> auto& e) {
  io("file", e.file);
  io("title", e.title);
  io("intended_device", e.intended_device);
  io("baseline", e.baseline, kSelector);
  io("timing", e.timing);
  io("verify", e.verify);
  io("published_source", e.published.source);
  io("published_columns", e.published.columns, kLabels);
  io("pivot", e.pivot_table);
  io("overrides", e.overridden);
  io.derived("sha256", sha256(e.text));
  io("text", e.text);
}

}  // namespace

void map(writer& io, const results::experiment& e) { members(io, e); }
void map(reader& io, results::experiment& e) { members(io, e); }

}  // namespace kzoo::storage
