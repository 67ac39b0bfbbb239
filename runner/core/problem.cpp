#include "core/problem.hpp"

#include "data/element.hpp"
#include "os/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <kzoo/stages.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <tuple>

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

std::optional<std::string> why_not_of_types(const problem& p) {
  if (!p.epilogue.empty() && !has_epilogues(p.dtype))
    return "epilogues are for results of f32, f16 and bf16";
  if ((!p.scale_block_a.empty() && !has_scale_blocks(p.dtype, false)) ||
      (!p.scale_block_b.empty() && !has_scale_blocks(p.dtype, true)))
    return "only blocks of fp8 matrices, and of a B of i4, have scales";
  if (!p.fills_bytes()) return "rows of a B of i4 have an even number of elements";
  return std::nullopt;
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
    case fill::sparse: return {0, 1, false};
    case fill::powers: return {0, 24, true};
    case fill::few_bits: return {0, 23, true};
    case fill::scaled:
    case fill::uneven:
    case fill::stale: return {-512, 512, true};
    default: return {};
  }
}

std::string filling_name(const filling& f) {
  std::string name(name_of(f.kind));
  if (parameter_of(f.kind).most > 0) name += fmt::format(":{}", f.parameter);
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
    const auto number = number_from<double>(name.substr(colon + 1));
    if (!number || !(*number >= range.least && *number <= range.most)) return {};
    if (range.whole && *number != std::trunc(*number)) return {};
    return filling{f, *number};
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
  const auto add = [&](const char* key, bool is_told, const auto& value) {
    if (is_told) details += fmt::format(" {}={}", key, value);
  };
  const auto quoted = [](const std::string& text) { return fmt::format("\"{}\"", text); };
  if (p.layout != usual.layout) details += fmt::format(" {}", layout_name(p.layout));
  add("batch", p.batch != usual.batch, p.batch);
  add("batch_padding", p.batch_padding != usual.batch_padding, p.batch_padding);
  add("batch_shared", p.batch_shared != usual.batch_shared, name_of(p.batch_shared));
  add("alpha", p.alpha != usual.alpha, p.alpha);
  add("beta", p.beta != usual.beta, p.beta);
  add("epilogue", !p.epilogue.empty(), quoted(epilogue_name(p.epilogue)));
  add("scale_a", p.scale_a != usual.scale_a, p.scale_a);
  add("scale_b", p.scale_b != usual.scale_b, p.scale_b);
  add("scale_block_a", !p.scale_block_a.empty(), scale_block_name(p.scale_block_a));
  add("scale_block_b", !p.scale_block_b.empty(), scale_block_name(p.scale_block_b));
  add("groups", p.groups != usual.groups, p.groups);
  add("group_rows", p.group_rows != usual.group_rows, name_of(p.group_rows));
  add("padding", p.padding != usual.padding, p.padding);
  add("fill", p.data != default_fill(p.dtype), filling_name(p.data));
  add("seed", p.seed != usual.seed, p.seed);
  add("allow", !p.allow.empty(), quoted(fmt::format("{}", fmt::join(p.allow.names(), ", "))));
  return details;
}

namespace {

std::int64_t up_to_multiple(std::int64_t x, std::int64_t multiple) {
  return (x + multiple - 1) / multiple * multiple;
}

std::int64_t common_multiple(std::int64_t x, std::int64_t y) {
  constexpr std::int64_t kTooLong = kLargestDimension + 1;
  return std::lcm(std::min(x, kTooLong), std::min(y, kTooLong));
}

}  // namespace

std::int64_t narrowest(const element_types& t) {
  return static_cast<std::int64_t>(std::min({type_size(t.a), type_size(t.b), type_size(t.c)}));
}

size_granularity both_of(const size_granularity& x, const size_granularity& y) {
  return {common_multiple(x.m, y.m), common_multiple(x.n, y.n), common_multiple(x.k, y.k),
          common_multiple(x.row_bytes, y.row_bytes)};
}

problem rounded_up(problem p, const size_granularity& g) {
  const std::int64_t in_word = elements_in_word(p.dtype.b);
  const std::int64_t row = in_word * std::max<std::int64_t>(1, g.row_bytes / narrowest(p.dtype));
  const bool a_has_rows_of_m = is_a_transposed(p.layout);
  const bool some_rows_of_k = !a_has_rows_of_m || is_b_transposed(p.layout);
  p.m = up_to_multiple(p.m, common_multiple(g.m, a_has_rows_of_m ? row : 1));
  p.n = up_to_multiple(p.n, common_multiple(g.n, row));  // rows of C
  p.k = up_to_multiple(p.k, common_multiple(g.k, some_rows_of_k ? row : 1));
  p.padding = up_to_multiple(p.padding, row);
  p.batch_padding = up_to_multiple(p.batch_padding, row);
  return p;
}

std::optional<std::string> broken_by(const size_granularity& g, const problem& p) {
  struct rule {
    const char* what;
    std::int64_t size, multiple;
  };
  const auto bytes = [](kzoo_type type, std::int64_t elements) {
    return elements / elements_in_word(type) * static_cast<std::int64_t>(type_size(type));
  };
  // The first row starts where the matrix does.
  const auto from_row = [&](kzoo_type type, std::int64_t ld, std::int64_t rows) {
    return rows == 1 ? 0 : bytes(type, ld);
  };
  const std::int64_t rows_a = is_a_transposed(p.layout) ? p.k : p.m;
  const std::int64_t rows_b = is_b_transposed(p.layout) ? p.n : p.k;
  const std::array rules{
      rule{"M", p.m, g.m},
      rule{"N", p.n, g.n},
      rule{"K", p.k, g.k},
      rule{"the bytes from row to row of A", from_row(p.dtype.a, p.lda(), rows_a), g.row_bytes},
      rule{"the bytes from row to row of B", from_row(p.dtype.b, p.ldb(), rows_b), g.row_bytes},
      rule{"the bytes from row to row of C", from_row(p.dtype.c, p.ldc(), p.m), g.row_bytes},
      rule{"the bytes from A to A", bytes(p.dtype.a, p.stride_a()), g.row_bytes},
      rule{"the bytes from B to B", bytes(p.dtype.b, p.stride_b()), g.row_bytes},
      rule{"the bytes from C to C", bytes(p.dtype.c, p.stride_c()), g.row_bytes}};
  const auto broken =
      std::ranges::find_if(rules, [](const rule& r) { return r.size % r.multiple != 0; });
  if (broken == rules.end()) return std::nullopt;
  return fmt::format("{} a multiple of {}, not {}", broken->what, broken->multiple, broken->size);
}

namespace {

// Fraction and exponent bits of a type, by kzoo_type. Integers count as fp32.
struct type_bits {
  int fraction = 23, exponent = 8;
};
type_bits bits_of(kzoo_type type) {
  constexpr std::array<type_bits, KZOO_I4 + 1> kBits{
      {{}, {}, {10, 5}, {7, 8}, {}, {52, 11}, {}, {3, 4}, {2, 5}, {3, 8}}};
  return type < kBits.size() ? kBits[type] : type_bits{};
}

// Fraction bits of inputs and of sums, and exponent bits of inputs, that a precision keeps.
struct kept_bits {
  int input = 23, sum = 23, exponent = 8;
};
kept_bits kept_by(kzoo_precision declared) {
  switch (declared) {
    case KZOO_COMPUTE_TF32: return {.input = 10};
    case KZOO_COMPUTE_FP16: return {.input = 10, .exponent = 5};
    case KZOO_COMPUTE_BF16: return {.input = 7};
    case KZOO_COMPUTE_FP64: return {52, 52, 11};
    case KZOO_COMPUTE_FP16_SUMS: return {10, 10, 5};
    case KZOO_COMPUTE_FP8: return {3, 13, 5};
    default: return {};
  }
}

// The first difference decides; larger is more precise.
auto order_of(kzoo_precision declared, const element_types& types) {
  const type_bits a = bits_of(types.a), b = bits_of(types.b);
  const kept_bits kept = kept_by(declared);
  return std::tuple(kept.sum, std::min(std::max(a.fraction, b.fraction), kept.input),
                    std::min(std::max(a.exponent, b.exponent), kept.exponent),
                    declared != KZOO_COMPUTE_FP32_NORMWISE);
}

}  // namespace

int stored_bits(kzoo_type type) { return bits_of(type).fraction; }
int input_bits(kzoo_precision declared) { return kept_by(declared).input; }

bool is_less_precise(kzoo_precision a, kzoo_precision b, const element_types& types) {
  if (a == 0 || b == 0) return false;  // results of earlier versions do not tell
  return !is_integer(types) && order_of(a, types) < order_of(b, types);
}

bool takes(const problem& p, kzoo_precision declared) {
  return p.allow.contains(declared) ||
         !is_less_precise(declared, usual_precision(p.dtype.a), p.dtype);
}

std::string taken_names(const problem& p) {
  std::vector<std::string> names = p.allow.names();
  names.insert(names.begin(), std::string(precision_name(usual_precision(p.dtype.a))));
  return fmt::format("{}", fmt::join(names, " or "));
}

namespace {

constexpr std::array kOperandTypes{KZOO_F32, KZOO_F16, KZOO_BF16};

std::optional<double> number(std::string_view text) {
  const auto value = number_from<double>(trimmed(text));
  return value && std::isfinite(*value) ? value : std::nullopt;
}

[[noreturn]] void refuse(std::string_view word, std::string_view why) {
  throw std::invalid_argument(fmt::format("\"{}\" {}", word, why));
}

// "clamp(-1, 1)".
epilogue_stage clamp_from(std::string_view word) {
  constexpr std::string_view kBegin = "clamp(";
  if (word.starts_with(kBegin) && word.ends_with(')')) {
    const std::string_view inside = word.substr(kBegin.size(), word.size() - kBegin.size() - 1);
    const std::size_t comma = inside.find(',');
    const auto low = number(inside.substr(0, comma));
    const auto high = comma == inside.npos ? std::nullopt : number(inside.substr(comma + 1));
    constexpr double kMost = std::numeric_limits<float>::max();
    if (low && high && -kMost <= *low && *low <= *high && *high <= kMost)
      return {stage_kind::clamp, 0, *low, *high};
  }
  refuse(word,
         "is not clamp with its two limits, numbers of fp32, the lower one first: "
         "\"clamp(-1, 1)\"");
}

epilogue_stage stage_from(std::string_view word) {
  if (word.starts_with("clamp")) return clamp_from(word);
  const std::size_t colon = word.find(':');
  const auto kind = from_name<stage_kind>(word.substr(0, colon));
  if (!kind) {
    std::vector<std::string_view> names;
    for (const stage_kind known : kAllOf<stage_kind>) names.push_back(name_of(known));
    names.back() = "clamp(LOW, HIGH)";
    refuse(word, fmt::format("is none of {}", fmt::join(names, ", ")));
  }
  if (colon == word.npos) return {*kind};
  if (!has_operand(*kind)) refuse(word, "has no operand, and so no type");
  const auto type = std::ranges::find(kOperandTypes, word.substr(colon + 1), type_name);
  if (type == kOperandTypes.end())
    refuse(word, "has none of the types of an operand: f32, f16, bf16");
  return {*kind, *type};
}

std::string name_of(const epilogue_stage& stage) {
  std::string name(name_of(stage.kind));
  if (stage.kind == stage_kind::clamp) name += fmt::format("({}, {})", stage.low, stage.high);
  if (stage.type != 0) name.append(":").append(type_name(stage.type));
  return name;
}

}  // namespace

kzoo_stage_kind stage_kind_of(stage_kind kind) {
  switch (kind) {
    case stage_kind::relu: return KZOO_STAGE_RELU;
    case stage_kind::gelu: return KZOO_STAGE_GELU;
    case stage_kind::gelu_tanh: return KZOO_STAGE_GELU_TANH;
    case stage_kind::silu: return KZOO_STAGE_SILU;
    case stage_kind::clamp: return KZOO_STAGE_CLAMP;
    default: return adds(kind) ? KZOO_STAGE_ADD : KZOO_STAGE_MULTIPLY;
  }
}

std::string epilogue_name(const stage_list& stages) {
  std::vector<std::string> names;
  for (const epilogue_stage& stage : stages) names.push_back(name_of(stage));
  return fmt::format("{}", fmt::join(names, " + "));
}

stage_list epilogue_from_name(std::string_view name) {
  stage_list stages;
  if (trimmed(name).empty()) return stages;
  for (std::size_t begin = 0; begin <= name.size();) {
    // Skips a + inside a number: clamp(0, 1e+20).
    const std::size_t open = name.find('(', begin), plus = name.find('+', begin);
    const std::size_t from = open < plus ? std::min(name.find(')', open), name.size()) : begin;
    const std::size_t end = std::min(name.find('+', from), name.size());
    const std::string_view word = trimmed(name.substr(begin, end - begin));
    if (word.empty()) refuse(name, "has a + with nothing on one side");
    const epilogue_stage next = stage_from(word);
    const auto is_same = [&](const epilogue_stage& s) { return s.kind == next.kind; };
    if (has_operand(next.kind) && std::ranges::any_of(stages, is_same))
      refuse(name, fmt::format("has the operand {} twice", name_of(next.kind)));
    stages.push_back(next);
    begin = end + 1;
  }
  if (stages.size() > kMostStages)
    refuse(name, fmt::format("has {} stages; at most {} are possible", stages.size(), kMostStages));
  return stages;
}

}  // namespace kzoo
