#include "core/problem.hpp"

#include "data/element.hpp"
#include "os/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <kzoo/stages.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace kzoo {

std::string scale_block_name(const scale_block& block) {
  return block.empty() ? "" : fmt::format("{}x{}", block.extent, block.depth);
}

std::optional<scale_block> scale_block_from_name(std::string_view name) {
  const std::size_t cross = name.find('x');
  if (cross == name.npos) return {};
  const auto extent = number_from<std::int64_t>(name.substr(0, cross));
  const auto depth = number_from<std::int64_t>(name.substr(cross + 1));
  const auto is_size = [](const std::optional<std::int64_t>& x) {
    return x && *x >= 1 && *x <= kLargestScaleBlock;
  };
  if (!is_size(extent) || !is_size(depth)) return {};
  return scale_block{*extent, *depth};
}

std::size_t type_size(kzoo_type type) {
  const bool known = type >= KZOO_F32 && type <= KZOO_I4;
  return known ? static_cast<std::size_t>(type_bytes(type)) : 0;
}

bool is_integer(kzoo_type type) { return data::is_integer_type(type); }

std::string types_name(const element_types& types) { return type_names(types.a, types.b, types.c); }

std::optional<element_types> types_from_name(std::string_view name) {
  for (const element_types& types : kElementTypes)
    if (types_name(types) == name) return types;
  return {};
}

bool is_integer(const element_types& types) { return is_integer(types.c); }

bool has_epilogues(const element_types& types) { return is_finished_type(types.c); }

bool is_scaled(const element_types& types) { return types.a == KZOO_E4M3 || types.a == KZOO_E5M2; }

bool has_scale_blocks(const element_types& types, bool of_b) {
  return is_scaled(types) || (of_b && types.b == KZOO_I4);
}

std::string why_not_of_types(const problem& p) {
  if (!p.epilogue.empty() && !has_epilogues(p.dtype))
    return "epilogues are for results of f32, f16 and bf16";
  if ((!p.scale_block_a.empty() && !has_scale_blocks(p.dtype, false)) ||
      (!p.scale_block_b.empty() && !has_scale_blocks(p.dtype, true)))
    return "only blocks of fp8 matrices, and of a B of i4, have scales";
  if (!p.fills_bytes()) return "rows of a B of i4 have an even number of elements";
  return "";
}

std::string_view precision_name(kzoo_precision precision) {
  constexpr std::array<std::string_view, kPrecisions.size()> kNames{
      "fp32", "tf32",      "fp16", "bf16",       "int32",
      "fp64", "fp16 sums", "fp8",  "fp32_split", "fp32_normwise"};
  static_assert(!kNames.back().empty());
  const auto known = std::ranges::find(kPrecisions, precision);
  return known == kPrecisions.end() ? "unknown precision" : kNames[known - kPrecisions.begin()];
}

std::vector<std::string> precision_names(const std::vector<kzoo_precision>& precisions) {
  std::vector<std::string> names;
  for (const kzoo_precision p : precisions) names.emplace_back(precision_name(p));
  return names;
}

std::optional<kzoo_precision> precision_from_name(std::string_view name) {
  const auto known = std::ranges::find(kPrecisions, name, precision_name);
  return known == kPrecisions.end() ? std::nullopt : std::optional(*known);
}

std::vector<std::string> precision_set::names() const {
  std::vector<kzoo_precision> all;
  for (const kzoo_precision p : kPrecisions)
    if (contains(p)) all.push_back(p);
  return precision_names(all);
}

bool is_fp32(kzoo_precision precision) {
  return precision == KZOO_COMPUTE_FP32 || precision == KZOO_COMPUTE_FP32_SPLIT;
}

fill_range parameter_of(fill f) {
  switch (f) {
    case fill::sparse:
      return {0, 1, false};
    case fill::powers:
      return {0, 24, true};
    case fill::few_bits:
      return {0, 23, true};
    case fill::scaled:
    case fill::uneven:
    case fill::stale:
      return {-512, 512, true};
    default:
      return {};
  }
}

std::string filling_name(const filling& f) {
  std::string name(name_of(f.what));
  if (parameter_of(f.what).most > 0) name += fmt::format(":{}", f.parameter);
  if (f.spread != 0) name += fmt::format("*2^-{}", f.spread);
  return name;
}

std::optional<filling> filling_from_name(std::string_view name) {
  const std::size_t colon = name.find(':');
  for (const fill f : kFills) {
    if (name_of(f) != name.substr(0, colon)) continue;
    const fill_range range = parameter_of(f);
    if ((range.most > 0) != (colon != std::string_view::npos)) return {};
    if (range.most == 0) return filling{f};
    double number = 0;
    const char* const end = name.data() + name.size();
    const auto [stop, fault] = std::from_chars(name.data() + colon + 1, end, number);
    if (fault != std::errc{} || stop != end) return {};
    if (!(number >= range.least && number <= range.most)) return {};
    if (range.whole && number != std::trunc(number)) return {};
    return filling{f, number};
  }
  return {};
}

bool has_integers(fill f) {
  using enum fill;
  constexpr std::array kIntegers{integers, probe, probe_b, signs, zeros,
                                 ones,     full,  full_b,  lone,  lone_b};
  return std::ranges::count(kIntegers, f) > 0;
}

fill default_fill(const element_types& types) {
  return is_integer(types) ? fill::integers : fill::uniform;
}

problem as_told(problem p) {
  p.data = {};
  p.seed = 1;
  p.renewed.clear();
  p.group_rows = data::group_rows::even;  // a matrix tells where groups begin
  return p;
}

problem sized(std::int64_t m, std::int64_t n, std::int64_t k, const element_types& dtype) {
  problem p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.dtype = dtype;
  p.data = default_fill(dtype);
  return p;
}

problem resized(const problem& like, std::int64_t m, std::int64_t n, std::int64_t k) {
  problem p = sized(m, n, k, like.dtype);
  p.layout = like.layout;
  p.epilogue = like.epilogue;
  p.scale_block_a = like.scale_block_a;
  p.scale_block_b = like.scale_block_b;
  p.groups = like.groups;
  p.group_rows = like.group_rows;
  return p;
}

std::string shape_name(const problem& p) { return fmt::format("{}x{}x{}", p.m, p.n, p.k); }

std::string problem_name(const problem& p) {
  return fmt::format("{} {}{}", shape_name(p), types_name(p.dtype), problem_details(p));
}

std::string problem_details(const problem& p) {
  const problem usual;
  std::string details;
  if (p.layout != usual.layout) details += fmt::format(" {}", layout_name(p.layout));
  if (p.batch != usual.batch) details += fmt::format(" batch={}", p.batch);
  if (p.batch_padding != usual.batch_padding)
    details += fmt::format(" batch_padding={}", p.batch_padding);
  if (p.batch_shared != usual.batch_shared)
    details += fmt::format(" batch_shared={}", name_of(p.batch_shared));
  if (p.alpha != usual.alpha) details += fmt::format(" alpha={}", p.alpha);
  if (p.beta != usual.beta) details += fmt::format(" beta={}", p.beta);
  if (!p.epilogue.empty()) details += fmt::format(" epilogue=\"{}\"", epilogue_name(p.epilogue));
  if (p.scale_a != usual.scale_a) details += fmt::format(" scale_a={}", p.scale_a);
  if (p.scale_b != usual.scale_b) details += fmt::format(" scale_b={}", p.scale_b);
  if (!p.scale_block_a.empty())
    details += fmt::format(" scale_block_a={}", scale_block_name(p.scale_block_a));
  if (!p.scale_block_b.empty())
    details += fmt::format(" scale_block_b={}", scale_block_name(p.scale_block_b));
  if (p.groups != usual.groups) details += fmt::format(" groups={}", p.groups);
  if (p.group_rows != usual.group_rows)
    details += fmt::format(" group_rows={}", name_of(p.group_rows));
  if (p.padding != usual.padding) details += fmt::format(" padding={}", p.padding);
  if (p.data != default_fill(p.dtype)) details += fmt::format(" fill={}", filling_name(p.data));
  if (p.seed != usual.seed) details += fmt::format(" seed={}", p.seed);
  if (!p.allow.empty()) details += fmt::format(" allow=\"{}\"", fmt::join(p.allow.names(), ", "));
  return details;
}

}  // namespace kzoo
