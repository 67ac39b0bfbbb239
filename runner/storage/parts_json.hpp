#pragma once
// Parts that several files share, as JSON. Include this in .cpp files only.

#include "core/kernel_name.hpp"
#include "core/problem.hpp"
#include "core/version.hpp"
#include "results/experiment.hpp"
#include "results/finding.hpp"
#include "results/plugin.hpp"
#include "roofline/roofline.hpp"
#include "storage/describe.hpp"
#include "storage/documents_json.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <stdexcept>

namespace kzoo::storage {

inline constexpr const char* kTextSchema = R"({"type": "string"})";

inline constexpr conversion kFilling{
    [](const filling& f) { return nlohmann::ordered_json(filling_name(f)); },
    [](const field& f, filling& to) {
      const auto known = filling_from_name(f.text());
      if (!known) f.refuse("expected the name of a fill");
      to = *known;
    },
    kTextSchema};

inline constexpr conversion kEpilogue{
    [](const stage_list& e) { return nlohmann::ordered_json(epilogue_name(e)); },
    [](const field& f, stage_list& to) {
      try {
        to = epilogue_from_name(f.text());
      } catch (const std::invalid_argument& fault) {
        f.refuse(fault.what());
      }
    },
    kTextSchema};

inline constexpr conversion kScaleBlock{
    [](const scale_block& block) { return nlohmann::ordered_json(scale_block_name(block)); },
    [](const field& f, scale_block& to) {
      const auto known = scale_block_from_name(f.text());
      if (!known) f.refuse("expected a block such as 1x128");
      to = *known;
    },
    R"({"type": "string", "pattern": "^[0-9]+x[0-9]+$"})"};

inline constexpr conversion kPrecisionSet{
    [](const precision_set& set) { return nlohmann::ordered_json(set.names()); },
    [](const field& f, precision_set& set) {
      for (const field& each : f.elements()) set.add(each.one_of(kPrecisions, precision_name));
    },
    R"({"type": "array", "items": {"type": "string"}})"};

void describe(auto& fields, maybe_const<problem> auto& p) {
  fields.derived("name", problem_name(p));
  fields(KZOO_MEMBERS(p, m, n, k), "dtype", named{p.dtype, kElementTypes, types_name}, "layout",
         named{p.layout, kLayouts, layout_name},
         KZOO_MEMBERS(p, batch, batch_padding, batch_shared, alpha, beta));
  fields.optional("epilogue", converted{p.epilogue, kEpilogue});
  fields(KZOO_MEMBERS(p, scale_a, scale_b));
  fields.optional("scale_block_a", converted{p.scale_block_a, kScaleBlock}, "scale_block_b",
                  converted{p.scale_block_b, kScaleBlock});
  fields.when("groups", p.groups > 0, [&] { fields(KZOO_MEMBERS(p, groups, group_rows)); });
  fields.derived("lda", p.lda(), "ldb", p.ldb(), "ldc", p.ldc(), "stride_a", p.stride_a(),
                 "stride_b", p.stride_b(), "stride_c", p.stride_c());
  fields("fill", converted{p.data, kFilling}, KZOO_MEMBERS(p, padding, seed));
  const auto usual = precision_name(usual_precision(p.dtype.a));  // not in early results
  fields.when("precision", true, [&] { fields.derived("precision", usual); });
  fields.optional("allow", converted{p.allow, kPrecisionSet});
  const auto is_size = [](std::int64_t size) { return size >= 1 && size <= kLargestDimension; };
  fields.require(is_size(p.m) && is_size(p.n) && is_size(p.k), "expected sizes from 1 to 1048576");
  fields.require(p.padding >= 0 && p.padding <= kMostPadding, "expected a padding from 0 to 65536");
  fields.require(p.batch >= 1 && p.batch <= kLargestBatch, "expected a batch from 1 to 65536");
  fields.require(p.batch_padding >= 0 && p.batch_padding <= kMostPadding,
                 "expected a batch_padding from 0 to 65536");
  fields.require(std::isfinite(p.alpha) && std::isfinite(p.beta), "alpha and beta must be numbers");
  fields.require(p.groups >= 0 && p.groups <= kMostGroups && (p.groups == 0 || p.batch == 1),
                 "expected up to 4096 groups, and then no batch");
  const auto wrong_types = why_not_of_types(p);
  fields.require(!wrong_types, wrong_types.value_or("").c_str());
  const auto is_scale = [](double scale) { return scale > 0 && std::isfinite(scale); };
  fields.require(is_scale(p.scale_a) && is_scale(p.scale_b), "expected scales above 0");
}

void describe(auto& fields, maybe_const<results::device> auto& d) {
  fields(KZOO_MEMBERS(d, id, name, memory_bytes, facts));
}

void describe(auto& fields, maybe_const<reference::differing> auto& d) {
  fields(KZOO_MEMBERS(d, row), "column", d.col, KZOO_MEMBERS(d, expected, got, unwritten));
}

void describe(auto& fields, maybe_const<reference::error_map> auto& e) {
  fields(KZOO_MEMBERS(e, rows_per_line, columns_per_character, rows_per_product), "map", e.picture,
         KZOO_MEMBERS(e, first));
}

void describe(auto& fields, maybe_const<results::finding> auto& f) {
  fields(KZOO_MEMBERS(f, check, outcome, detail));
  fields.optional(KZOO_MEMBERS(f, errors, not_checked));
}

void describe(auto& fields, maybe_const<roofline::pace> auto& p) {
  fields(KZOO_MEMBERS(p, rate, clock_mhz));
  fields.require("rate", p.rate > 0 && std::isfinite(p.rate), "expected a number above 0");
}

void describe(auto& fields, maybe_const<roofline::measured_peak> auto& p) {
  fields(KZOO_MEMBERS(p, resource));
  fields.derived("unit", fmt::format("{}/s", roofline::unit_of(p.resource)));
  fields(KZOO_MEMBERS(p, kernel, best, spread));
  fields.later(KZOO_MEMBERS(p, samples));
}

void describe(auto& fields, maybe_const<timing::process_spread> auto& s) {
  fields(KZOO_MEMBERS(s, ms, share));
  fields.require("ms", s.ms >= 0 && std::isfinite(s.ms), "expected a number from 0");
  fields.require("share", s.share >= 0 && std::isfinite(s.share), "expected a number from 0");
}

// The program that writes a file.
struct this_runner {
  const char* version = kVersion;
};
void describe(auto& fields, const this_runner& r) { fields(KZOO_MEMBERS(r, version)); }

void describe(auto& fields, maybe_const<roofline::peaks> auto& c) {
  fields.schema(kPeaksSchema);
  fields.derived("runner", this_runner());
  fields.object("device", [&](auto& of) { of("name", c.device, KZOO_MEMBERS(c, facts)); });
  fields(KZOO_MEMBERS(c, measured), "peaks", c.all);
  fields.optional("process_to_process", c.spread);
}

inline constexpr conversion kPoint{
    [](const results::tuning_point& point) {
      nlohmann::ordered_json j = nlohmann::ordered_json::object();
      for (const auto& [name, value] : point) j[name] = value;
      return j;
    },
    [](const field& f, results::tuning_point& point) {
      for (const auto& [name, value] : f.entries()) {
        if (!is_identifier(name)) value.refuse("expected a parameter's name");
        point.push_back({name, value.integer<std::int64_t>()});
      }
    },
    R"({"type": "object", "additionalProperties": {"type": "integer"}})"};

void describe_speedup(auto& fields, auto& speedup) {
  auto value = speedup ? std::optional(speedup->value) : std::nullopt;
  auto likely = speedup ? speedup->likely : std::nullopt;
  fields("speedup_over_baseline", value, "speedup_interval", likely);
  fields.require("speedup_over_baseline", !value || *value >= 0, "expected a number above 0");
  fields.require("speedup_interval", !likely || likely->low <= likely->high,
                 "expected the lower number first");
  fields.restore(
      [&](auto& read) {
        if (value) read = timing::ratio{*value, likely};
      },
      speedup);
}

}  // namespace kzoo::storage
