#pragma once
// Parts that several files share, as JSON. Include this in .cpp files only.

#include "core/kernel_name.hpp"
#include "core/precision.hpp"
#include "core/problem.hpp"
#include "results/device.hpp"
#include "results/experiment.hpp"
#include "results/plugin.hpp"
#include "storage/archive.hpp"
#include "timing/bootstrap.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace kzoo::storage {

inline constexpr as kFilling{
    [](const filling& f) { return nlohmann::ordered_json(filling_name(f)); },
    [](const field& f, filling& to) {
      const auto known = filling_from_name(f.text());
      if (!known) f.refuse("expected the name of a fill");
      to = *known;
    }};

inline constexpr as kEpilogue{
    [](const stage_list& e) { return nlohmann::ordered_json(epilogue_name(e)); },
    [](const field& f, stage_list& to) {
      try {
        to = epilogue_from_name(f.text());
      } catch (const std::invalid_argument& fault) {
        f.refuse(fault.what());
      }
    }};

inline constexpr as kScaleBlock{
    [](const scale_block& block) { return nlohmann::ordered_json(scale_block_name(block)); },
    [](const field& f, scale_block& to) {
      const auto known = scale_block_from_name(f.text());
      if (!known) f.refuse("expected a block such as 1x128");
      to = *known;
    }};

inline constexpr as kPrecisionSet{
    [](const precision_set& set) { return nlohmann::ordered_json(set.names()); },
    [](const field& f, precision_set& set) {
      for (const field& each : f.elements()) set.add(each.one_of(kPrecisions, precision_name));
    }};

void map(auto& io, is<problem> auto& p) {
  io.derived("name", problem_name(p));
  io("m", p.m);
  io("n", p.n);
  io("k", p.k);
  io("dtype", p.dtype, word(kElementTypes, types_name));
  io("layout", p.layout, word(kLayouts, layout_name));
  io("batch", p.batch);
  io("batch_padding", p.batch_padding);
  io("batch_shared", p.batch_shared);
  io("alpha", p.alpha);
  io("beta", p.beta);
  if (io.has("epilogue", !p.epilogue.empty())) io("epilogue", p.epilogue, kEpilogue);
  io("scale_a", p.scale_a);
  io("scale_b", p.scale_b);
  if (io.has("scale_block_a", !p.scale_block_a.empty()))
    io("scale_block_a", p.scale_block_a, kScaleBlock);
  if (io.has("scale_block_b", !p.scale_block_b.empty()))
    io("scale_block_b", p.scale_block_b, kScaleBlock);
  if (io.has("groups", p.groups > 0)) {
    io("groups", p.groups);
    io("group_rows", p.group_rows);
  }
  io.derived("lda", p.lda());
  io.derived("ldb", p.ldb());
  io.derived("ldc", p.ldc());
  io.derived("stride_a", p.stride_a());
  io.derived("stride_b", p.stride_b());
  io.derived("stride_c", p.stride_c());
  io("fill", p.data, kFilling);
  io("padding", p.padding);
  io("seed", p.seed);
  io.derived("precision", precision_name(usual_precision(p.dtype.a)));
  if (io.has("allow", !p.allow.empty())) io("allow", p.allow, kPrecisionSet);
  const auto is_size = [](std::int64_t size) { return size >= 1 && size <= kLargestDimension; };
  io.require(is_size(p.m) && is_size(p.n) && is_size(p.k), "expected sizes from 1 to 1048576");
  io.require(p.padding >= 0 && p.padding <= kMostPadding, "expected a padding from 0 to 65536");
  io.require(p.batch >= 1 && p.batch <= kMostProducts, "expected a batch from 1 to 65536");
  io.require(p.batch_padding >= 0 && p.batch_padding <= kMostPadding,
             "expected a batch_padding from 0 to 65536");
  io.require(std::isfinite(p.alpha) && std::isfinite(p.beta), "alpha and beta must be numbers");
  io.require(p.groups >= 0 && p.groups <= kMostGroups && (p.groups == 0 || p.batch == 1),
             "expected up to 4096 groups, and then no batch");
  const std::string wrong_types = why_not_of_types(p);
  io.require(wrong_types.empty(), wrong_types.c_str());
  const auto is_scale = [](double scale) { return scale > 0 && std::isfinite(scale); };
  io.require(is_scale(p.scale_a) && is_scale(p.scale_b), "expected scales above 0");
}

void map(auto& io, is<results::device> auto& d) {
  io("id", d.id);
  io("name", d.name);
  io("memory_bytes", d.memory_bytes);
  io("facts", d.facts);
}

inline constexpr as kPoint{[](const results::tuning_point& point) {
                             nlohmann::ordered_json j = nlohmann::ordered_json::object();
                             for (const auto& [name, value] : point) j[name] = value;
                             return j;
                           },
                           [](const field& f, results::tuning_point& point) {
                             for (const auto& [name, value] : f.entries()) {
                               if (!is_identifier(name))
                                 value.refuse("expected a parameter's name");
                               point.push_back({name, value.integer<std::int64_t>()});
                             }
                           }};

// Null unless the ABI defines it: a plugin may declare any number.
inline constexpr as kPrecision{
    [](kzoo_precision p) {
      const bool known = std::ranges::find(kPrecisions, p) != kPrecisions.end();
      return known ? nlohmann::ordered_json(precision_name(p)) : nlohmann::ordered_json();
    },
    [](const field& f, kzoo_precision& p) { p = f.one_of(kPrecisions, precision_name); }};

inline constexpr as kRatio{[](const timing::ratio& r) { return nlohmann::ordered_json(r.value); },
                           [](const field& f, timing::ratio& r) { r.value = f.number(); }};
inline constexpr as kInterval{[](const timing::interval& i) {
                                return nlohmann::ordered_json::array({i.low, i.high});
                              },
                              [](const field& f, timing::interval& i) {
                                const std::vector<double> ends = f.numbers();
                                if (ends.size() != 2)
                                  f.refuse("expected two numbers, low and high");
                                i = {ends[0], ends[1]};
                              }};

void map_speedup(auto& io, auto& speedup) {
  io("speedup_over_baseline", speedup, kRatio);
  auto likely = speedup ? speedup->likely : std::nullopt;
  io("speedup_interval", likely, kInterval);
  io.require("speedup_over_baseline", !speedup || speedup->value >= 0, "expected a number above 0");
  io.require("speedup_interval", !likely || likely->low <= likely->high,
             "expected the lower number first");
  io.restore(
      [&](auto& read) {
        if (read) read->likely = likely;
      },
      speedup);
}

// An experiment as a part of results (archive.hpp). JSON keeps its problems in the cells.
void map(writer& io, const results::experiment& e);
void map(reader& io, results::experiment& e);

}  // namespace kzoo::storage
