// A run as JSON, in both directions. Derived figures are not read but recomputed.

#include "storage/results_json.hpp"

#include "input/diagnostics.hpp"
#include "os/files.hpp"
#include "os/sha256.hpp"
#include "storage/cell_json.hpp"
#include "storage/describe.hpp"
#include "storage/field.hpp"
#include "storage/parts_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <functional>
#include <istream>
#include <streambuf>
#include <utility>
#include <vector>

namespace kzoo::storage {

using json = nlohmann::ordered_json;

void describe(auto& fields, maybe_const<results::timing_options> auto& t) {
  fields(KZOO_MEMBERS(t, enabled, mode, power, rounds, warmup, min_samples), "max_noise",
         t.max_relative_half_width,
         KZOO_MEMBERS(t, max_seconds, end_to_end, fresh_processes, require_locked_clocks));
  fields.optional(KZOO_MEMBERS(t, drop_slower, budget_seconds));
}

void describe(auto& fields, maybe_const<results::verify_options> auto& v) {
  fields(KZOO_MEMBERS(v, tier, timeout_seconds, impossible_time));
}

void describe(auto& fields, maybe_const<results::pivot> auto& p) {
  fields(KZOO_MEMBERS(p, rows, columns, value));
}

void describe(auto& fields, maybe_const<results::overrides> auto& o) {
  fields(KZOO_MEMBERS(o, device, plugins, sizes, layouts, batches, build_args, tier));
  fields.later(KZOO_MEMBERS(o, problems));
  fields.optional(KZOO_MEMBERS(o, tune, allow, baseline, budget_seconds, sample));
}

constexpr conversion kBaseline{
    [](const std::optional<selector>& s) { return s ? json(s->text) : json(); },
    [](const field& f, std::optional<selector>& s) {
      s = selector{f.text(), {}};
    },
    R"({"type": ["string", "null"]})"};

constexpr conversion kLabels{[](const std::vector<results::published_column>& columns) {
                               json labels = json::array();
                               for (const auto& column : columns) labels.push_back(column.label);
                               return labels;
                             },
                             [](const field& f, std::vector<results::published_column>& columns) {
                               for (const field& label : f.elements())
                                 columns.push_back({label.text(), {}});
                             },
                             R"({"type": "array", "items": {"type": "string"}})"};

// JSON keeps the problems in the cells.
void describe(auto& fields, maybe_const<results::experiment> auto& e) {
  fields(KZOO_MEMBERS(e, file, title, intended_device));
  fields.later("baseline", converted{e.baseline, kBaseline});
  fields(KZOO_MEMBERS(e, timing, verify), "published_source", e.published.source,
         "published_columns", converted{e.published.columns, kLabels}, "pivot", e.pivot_table,
         "overrides", e.overridden);
  fields.derived("sha256", sha256(e.text));
  fields(KZOO_MEMBERS(e, text));
}

void describe(auto& fields, maybe_const<results::built_point> auto& p) {
  fields(KZOO_MEMBERS(p, name), "parameters", converted{p.values, kPoint},
         KZOO_MEMBERS(p, options));
  fields.optional("does_not_compile", p.why_not);
}

void describe(auto& fields, maybe_const<results::tuned_builds> auto& t) {
  fields(KZOO_MEMBERS(t, seconds, from_cache));
  fields.later(KZOO_MEMBERS(t, left_out));
  fields.optional(KZOO_MEMBERS(t, not_drawn));
  fields(KZOO_MEMBERS(t, points));
}

void describe(auto& fields, maybe_const<results::plugin_record> auto& p) {
  fields(KZOO_MEMBERS(p, name, file, sha256, source));
  fields.later(KZOO_MEMBERS(p, source_sha256));
  fields.when("tuned", !p.tuned.points.empty(), [&] { fields(KZOO_MEMBERS(p, tuned)); });
  fields.later(KZOO_MEMBERS(p, host_code));
  fields.optional("missing_headers", p.missing);
  const auto describe_contents = [&] {
    fields.restore([](auto& description) { description.emplace(); }, p.description);
    fields(KZOO_MEMBERS((*p.description), id, summary), "build", p.description->build_info,
           KZOO_MEMBERS((*p.description), native, libraries));
  };
  fields.either(
      "problem", !p.description, [&] { fields(KZOO_MEMBERS(p, problem)); }, describe_contents);
}

void describe(auto& fields, maybe_const<results::invocation> auto& i) {
  fields(KZOO_MEMBERS(i, plugin_folders, in_process));
}

void describe(auto& fields, maybe_const<results::document> auto& d) {
  fields.schema(kResultsSchema);
  fields.object("runner", [&](auto& runner) { runner(KZOO_MEMBERS(d, version)); });
  fields(KZOO_MEMBERS(d, host, started, wall_seconds, experiment), "invocation", d.invoked,
         KZOO_MEMBERS(d, device, devices, peaks, notes), "planned_cells", d.planned,
         KZOO_MEMBERS(d, plugins));
}

void describe(auto& fields, const results::validated_variant& v) {
  fields(KZOO_MEMBERS(v, kernel), "dtype", named{v.dtype, kElementTypes, types_name}, "precision",
         named{v.declared, kPrecisions, precision_name}, KZOO_MEMBERS(v, problem), "checks",
         v.findings);
}

void describe(auto& fields, const results::validation& v) {
  fields.schema("kzoo.validation/1");
  fields("runner", this_runner(), KZOO_MEMBERS(v, wall_seconds, device, tier, plugins, variants));
}

namespace {

// Calls f for each cell, with the cells of its problem up to it.
void for_each_cell(const results::document& d,
                   const std::function<void(std::span<const results::cell>)>& f) {
  const std::span all(d.cells);
  for (std::size_t first = 0, i = 0; i < all.size(); ++i) {
    if (all[i].problem != all[first].problem) first = i;
    f(all.subspan(first, i + 1 - first));
  }
}

}  // namespace

json head_json(const results::document& d) {
  json head = to_value(d);
  if (d.peaks)
    for (json& one : head["peaks"]["peaks"]) one.erase("samples");
  return head;
}

json results_schema() {
  json schema = record_schema(results::document());
  schema["properties"]["cells"] = {{"type", "array"}, {"items", cell_schema()}};
  schema["required"].push_back("cells");
  return schema;
}

json to_json(const results::document& d) {
  json whole = head_json(d);
  json& cells = whole["cells"] = json::array();
  for_each_cell(d, [&](auto so_far) { cells.push_back(to_json(d, so_far)); });
  return whole;
}

void write(const results::document& d, const text_sink& out) {
  out("{\n");
  const json head = head_json(d);
  for (const auto& [key, value] : head.items())
    out(fmt::format("{}: {},\n", json(key).dump(), dumped(value, -1)));
  out("\"cells\": [");
  for_each_cell(d, [&](auto so_far) {
    out(fmt::format("{}\n{}", so_far.data() == d.cells.data() && so_far.size() == 1 ? "" : ",",
                    dumped(to_json(d, so_far), -1)));
  });
  out("\n]\n}\n");
}

results::document read_head(json head, const std::string& place) {
  head["schema"] = kResultsSchema;
  results::document d;
  from_value(field(head, place), d);
  return d;
}

results::document read_document(std::istream& in, const std::string& file) {
  collected_cells cells;
  json head = parse(
      in, file,
      [](const std::string& key, const field& value) {
        if (key == "schema") value.require_schema(kResultsSchema);
      },
      [&](const std::string& key, const field& element) {
        if (key != "cells") return true;
        cells.add(element, {});
        return false;
      });
  if (head.is_object() && !head.contains("schema")) {
    input::refuse(file, "holds no results: the key \"schema\" is missing; {}", kResultFiles);
  }
  const field root(head, file);
  root.at("schema").require_schema(kResultsSchema);
  // Only elements that are not objects remain in the list.
  for (const field& element : root.at("cells").elements()) read_cell(element);
  results::document d = read_head(head, file);
  cells.move_into(d);
  return d;
}

std::string dumped(const json& j, int indent) {
  // ASCII output escapes terminal controls and Unicode's line separators.
  return j.dump(indent, ' ', true, json::error_handler_t::replace);
}

std::string to_text(const results::validation& v) { return dumped(to_value(v), 2) + '\n'; }

json validation_schema() { return record_schema(results::validation()); }

// The output of `runner judge` for programs.

namespace {

std::optional<std::string> or_null(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional<std::string>(text);
}

struct device_name {
  const std::string &id, &name;
};

struct judgement {
  const results::file_judgement& file;
  const judgement_setting* setting;  // null: it was only compiled
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
  const results::file_judgement& f = j.file;
  fields.schema(kJudgementSchema);
  fields("runner", this_runner(), KZOO_MEMBERS(f, file));
  describe(fields, f.came_of_it);
  fields(KZOO_MEMBERS(f, host_code));
  const auto judged = [&] {
    const judgement_setting& s = *j.setting;
    fields(KZOO_MEMBERS(s, tier), "device", device_name{s.device.id, s.device.name},
           KZOO_MEMBERS(s, baseline), "precisions", precision_names(f.precisions),
           KZOO_MEMBERS(f, speedup), "calls", f.libraries, KZOO_MEMBERS(f, not_checked, problems));
  };
  fields.when("tier", j.setting != nullptr, judged);
  fields("library", or_null(f.library), "sha256", or_null(f.sha256));
  fields.when("tier", j.setting != nullptr,
              [&] { fields(KZOO_MEMBERS((*j.setting), command, wall_seconds)); });
}

std::string to_line(const results::file_judgement& f, const judgement_setting& setting) {
  return dumped(to_value(judgement{f, &setting}), -1);
}

std::string to_line(const results::file_judgement& f) {
  return dumped(to_value(judgement{f, nullptr}), -1);
}

nlohmann::ordered_json judgement_schema() {
  const results::file_judgement any;
  const judgement_setting setting;
  return record_schema(judgement{any, &setting});
}

namespace {

// A stream that replays its beginning, since a pipe cannot be read twice.
class rewound final : public std::streambuf {
 public:
  rewound(std::string beginning, std::istream& rest)
      : beginning_(std::move(beginning)), rest_(rest) {
    setg(beginning_.data(), beginning_.data(), beginning_.data() + beginning_.size());
  }

 protected:
  int_type underflow() override {
    rest_.read(chunk_.data(), static_cast<std::streamsize>(chunk_.size()));
    setg(chunk_.data(), chunk_.data(), chunk_.data() + rest_.gcount());
    return rest_.gcount() > 0 ? traits_type::to_int_type(chunk_.front()) : traits_type::eof();
  }

 private:
  static constexpr std::size_t kChunk = 1 << 16;
  std::string beginning_;
  std::istream& rest_;
  std::vector<char> chunk_ = std::vector<char>(kChunk);
};

// The first line with its line break; cut off if it is longer than any journal's.
std::string first_line(std::istream& in) {
  constexpr std::size_t kLongest = 64 << 20;
  std::string line;
  for (int c = 0; line.size() < kLongest && c != '\n';) {
    c = in.get();
    if (c == std::istream::traits_type::eof()) break;
    line.push_back(static_cast<char>(c));
  }
  return line;
}

// `beginning`: the first line.
void refuse_if_no_json(const std::string& file, const std::string& beginning) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  std::string_view text = beginning;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_empty = first == std::string_view::npos && !text.ends_with('\n');
  const bool is_other = first != std::string_view::npos && text[first] != '{' && text[first] != '[';
  if (is_empty || is_other) {
    input::refuse(file, "holds no results: it is {}; {}", is_empty ? "empty" : "no JSON",
                  kResultFiles);
  }
}

// Calls f with the first line of a file and with the whole file as a stream.
template <class F>
auto read_with(const std::filesystem::path& path, const F& f) {
  constexpr input::file_kind kResultFile{"a result file", ".json or .jsonl", 0};
  std::ifstream file = input::open_file(path, kResultFile);
  const std::string beginning = first_line(file);
  rewound whole(beginning, file);
  std::istream in(&whole);
  const auto refuse_if_broken = [&] {
    if (file.bad()) input::refuse(path.string(), "cannot be read to its end");
  };
  try {
    auto result = f(beginning, in);
    refuse_if_broken();  // a read error looks like the end
    return result;
  } catch (const input::invalid&) {
    refuse_if_broken();
    throw;
  }
}

}  // namespace

results::document read(const std::filesystem::path& path) {
  return read_with(path, [&](const std::string& beginning, std::istream& in) {
    refuse_if_no_json(path.string(), beginning);
    return is_journal_head(beginning) ? read_journal(in, path.string()).results
                                      : read_document(in, path.string());
  });
}

journal_content read_journal_file(const std::filesystem::path& path) {
  return read_with(path, [&](const std::string& beginning, std::istream& in) {
    if (!is_journal_head(beginning)) input::refuse(path.string(), "is not the journal of a run");
    return read_journal(in, path.string());
  });
}

}  // namespace kzoo::storage
