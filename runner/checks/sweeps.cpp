#include "checks/check.hpp"

#include "core/operands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <random>
#include <utility>

namespace kzoo::checks {
namespace {

struct shape {
  std::int64_t m, n, k;
};

problem sized(const candidate& c, const shape& s) {
  return resized(c.current_problem(), s.m, s.n, s.k);
}

// Sets alpha and beta to neither 0 nor 1.
void set_scalars(problem& p) {
  const bool integer = is_integer(p.dtype);
  p.alpha = integer ? -3.0 : -0.7;
  p.beta = integer ? -2.0 : -1.3;
}

// Whether the declared precision must give fill::probe's results exactly.
bool is_probed(const candidate& c) {
  const element_types& types = c.current_problem().dtype;
  if (is_integer(types)) return true;
  switch (types.a) {
    case KZOO_F64: return c.declared() == KZOO_COMPUTE_FP64;
    case KZOO_F16:
    case KZOO_BF16: return c.declared() != KZOO_COMPUTE_FP8;
    default: return is_fp32(c.declared()) || c.declared() == KZOO_COMPUTE_FP32_NORMWISE;
  }
}

// A kernel may narrow, or split, only one of the inputs.
bool has_probe_of_b(const candidate& c) {
  const element_types& types = c.current_problem().dtype;
  return (types == KZOO_F32 || types == KZOO_F64) && is_probed(c);
}

// Whether products of all bits of an element, each alone in its sum, must be exact.
bool has_lone_probes(const candidate& c) {
  const element_types& types = c.current_problem().dtype;
  return is_probed(c) && !is_integer(types) && types.b != KZOO_I4 &&
         c.declared() != KZOO_COMPUTE_FP32_NORMWISE;
}

bool has_range_of_fp16(const candidate& c) {
  const kzoo_type type = c.current_problem().dtype.a;
  const kzoo_precision declared = c.declared();
  return type == KZOO_F16 || type == KZOO_E5M2 || declared == KZOO_COMPUTE_FP16 ||
         declared == KZOO_COMPUTE_FP16_SUMS;
}

// Powers of two that scale inputs up and down: near the ends of the declared precision's range, and
// far beyond the next narrower format's.
struct exponent_range {
  int up, down;
};
exponent_range range_of(const candidate& c) {
  const element_types& types = c.current_problem().dtype;
  if (types.a == KZOO_E4M3 || types.b == KZOO_E4M3) return {8, -4};
  if (has_range_of_fp16(c)) return {14, -10};
  return types.a == KZOO_F64 ? exponent_range{200, -200} : exponent_range{40, -40};
}

// fp16 accumulators overflow even in a right kernel.
bool may_be_scaled(const candidate& c) { return c.declared() != KZOO_COMPUTE_FP16_SUMS; }

// The spread of powers of two by which rows of A and columns of B differ if they are integers: then
// no element or row shows that sums are exact. Small enough for narrow types to lose no bits. None
// for norm-wise bounds, which promise nothing for small rows, nor for epilogues, whose operands
// have no such powers.
int spread_of(const candidate& c) {
  const problem& own = c.current_problem();
  const bool has_them =
      !is_integer(own.dtype) && own.epilogue.empty() && c.declared() != KZOO_COMPUTE_FP32_NORMWISE;
  if (!has_them) return 0;
  constexpr int kOfFp8 = 2, kOfFp16 = 4, kOfWide = 20;
  if (is_scaled(own.dtype)) return kOfFp8;
  return has_range_of_fp16(c) ? kOfFp16 : kOfWide;
}

filling integers_of(const candidate& c, fill kind) {
  filling data(kind);
  data.spread = spread_of(c);
  return data;
}

// Fills that the declared precision holds exactly and no narrower one does, `first` first.
std::vector<filling> probes_of(const candidate& c, fill first) {
  std::vector<filling> all{first == fill::probe ? integers_of(c, first) : filling(first)};
  if (has_probe_of_b(c)) all.push_back(integers_of(c, fill::probe_b));
  if (has_lone_probes(c))
    for (const fill lone : {fill::lone, fill::lone_b}) all.push_back(integers_of(c, lone));
  return all;
}

// Scales the problem's inputs, but keeps the size of C.
problem scaled_by(problem p, fill kind, int exponent) {
  constexpr int kMostOfBoth = 50;  // the reference holds the sums of |A||B| in fp32
  if (kind == fill::scaled) exponent = std::clamp(exponent, -kMostOfBoth, kMostOfBoth);
  p.data = {kind, double(exponent)};
  p.alpha = std::ldexp(1.0, -exponent_of_products(p));
  return p;
}

// "declares fp32, but results that fp32 represents exactly are not exact: "
std::string why_probed(const element_types& types, kzoo_precision declared) {
  if (types.a == KZOO_I32)
    return "declares int32, but products of 12-bit numbers are not added exactly: ";
  if (types.a == KZOO_I8) return "declares int32, but products of bytes are not added exactly: ";
  if (declared == KZOO_COMPUTE_FP16_SUMS)
    return "declares fp16 sums, but results that fp16 represents exactly are not exact: ";
  const bool narrow = type_size(types.a) == 2;
  const char* format = types.a == KZOO_F64 ? "fp64" : "fp32";
  return fmt::format("{} {}, but results that {} represents exactly are not exact: ",
                     narrow ? "must accumulate in" : "declares",
                     narrow ? format : precision_name(declared), format);
}

// Extents of 1, primes, sizes around and below every tile, odd and even numbers of k tiles,
// different M, N and K, leading dimensions larger than the rows.
std::vector<problem> shapes(const candidate& c) {
  constexpr std::array kShapes = {shape{1, 1, 1},      shape{1, 129, 7},    shape{127, 1, 65},
                                  shape{17, 19, 1},    shape{2, 3, 5},      shape{15, 16, 17},
                                  shape{18, 20, 2},    shape{9, 33, 3},     shape{35, 6, 4},
                                  shape{31, 33, 32},   shape{64, 64, 64},   shape{63, 65, 127},
                                  shape{97, 89, 101},  shape{128, 128, 64}, shape{129, 127, 33},
                                  shape{65, 130, 257}, shape{255, 257, 16}, shape{256, 136, 72},
                                  shape{40, 520, 24},  shape{1160, 60, 8},  shape{60, 1160, 8}};
  std::vector<problem> list;
  for (const shape& size : kShapes) list.push_back(sized(c, size));
  // K beyond 2^16 takes a simulated kernel longest here, and one type suffices for indices.
  const bool has_first_types =
      c.who().description.signatures.front().dtype == c.current_problem().dtype;
  if (!c.who().simulated || has_first_types) list.push_back(sized(c, {3, 5, 70001}));
  // Odd and even numbers of k tiles, for any tile size.
  for (std::int64_t k = 8; k <= 96; k += 8) list.push_back(sized(c, {64, 64, k}));
  for (std::int64_t k = 128; k <= 320; k += 64) list.push_back(sized(c, {64, 64, k}));
  // Few tiles of C and a large K, where split-K and stream-K kernels divide a tile's work.
  for (const std::int64_t n : {50, 70}) list.push_back(sized(c, {40, n, 2001}));
  for (const std::int64_t padding : {1, 8})
    for (const shape& size : {shape{64, 64, 64}, shape{97, 89, 101}, shape{129, 136, 40}})
      list.emplace_back(sized(c, size)).padding = padding;
  list.emplace_back(sized(c, {97, 89, 101})).padding = 1000;  // parts of larger matrices
  return list;
}

// C = alpha A B + beta C for three alphas and three betas. With beta = 0 a NaN in C must not count.
std::vector<problem> scalars(const candidate& c) {
  const bool integer = is_integer(c.current_problem().dtype);
  const double some_alpha = integer ? -3.0 : -0.7, some_beta = integer ? -2.0 : -1.3;
  std::vector<problem> list;
  const auto add = [&](const shape& size, double alpha, double beta,
                       std::int64_t padding) -> problem& {
    problem& p = list.emplace_back(sized(c, size));
    p.alpha = alpha;
    p.beta = beta;
    p.padding = padding;
    return p;
  };
  for (const double alpha : {0.0, 1.0, some_alpha})
    for (const double beta : {0.0, 1.0, some_beta})
      for (const std::int64_t padding : {0, 5}) add({33, 70, 41}, alpha, beta, padding);
  // More pairs: equal, unpredictable, and beta = 0 with numbers in C that must not be read. Drawn
  // values are not round: errors for round numbers show in the fixed pairs.
  std::mt19937 random(std::random_device{}());
  const double scale = integer ? 1 : 10'000;
  const auto drawn = [&] {
    std::uniform_int_distribution<int> tens(0, integer ? 999 : 1999);
    return (random() % 2 == 0 ? 1 : -1) * (10 * tens(random) + 7) / scale;
  };
  const double same = integer ? 5 : 0.6, drawn_alpha = drawn(), drawn_beta = drawn();
  for (const auto& [a, b] :
       {std::pair{-1.0, 1.0}, {1.0, -1.0}, {-1.0, -1.0}, {same, same}, {drawn_alpha, drawn_beta}})
    add({33, 70, 41}, a, b, 5);
  add({40, 40, 40}, some_alpha, some_beta, 0);
  constexpr int kStaleExponent = 10;
  add({33, 70, 41}, 1, 0, 0).data = {fill::stale, kStaleExponent};
  // Shapes that kernels special-case: vectors, outer products, and a K large enough for split-K.
  for (const shape& size :
       {shape{1, 129, 65}, shape{127, 1, 65}, shape{33, 40, 1}, shape{3, 5, 5001}})
    add(size, some_alpha, some_beta, 5);
  const problem& own = c.current_problem();
  if (is_scaled(own.dtype) && !own.has_block_scales()) {
    for (const auto& [scale_a, scale_b] : {std::pair{0.375, 1.0}, {1.0, 5.0}, {3.0, 0.7}}) {
      problem& p = add({33, 70, 41}, some_alpha, some_beta, 5);
      p.scale_a = scale_a;
      p.scale_b = scale_b;
    }
  }
  // Rows of whole float4s, many k tiles, and tiles divided by stream-K.
  for (const double beta : {0.0, some_beta})
    for (const std::int64_t padding : {0, 4}) add({40, 180, 1056}, some_alpha, beta, padding);
  return list;
}

// Integer sums that fp32 represents exactly in any order: a single dropped term is detected.
std::vector<problem> exact_integers(const candidate& c) {
  std::vector<problem> list;
  for (const shape& size : {shape{66, 34, 129}, shape{64, 96, 4096}, shape{33, 65, 1023}}) {
    for (const double beta : {0.0, 1.0}) {
      problem& p = list.emplace_back(sized(c, size));
      p.data = integers_of(c, fill::integers);
      p.beta = beta;
    }
  }
  return list;
}

// Batches, packed and padded, with and without a shared operand.
std::vector<problem> batches(const candidate& c) {
  std::vector<problem> list;
  const auto add = [&](std::int64_t count, const shape& size) -> problem& {
    problem& p = list.emplace_back(sized(c, size));
    p.batch = count;
    return p;
  };
  add(2, {64, 64, 64});
  add(67, {5, 3, 9});
  for (const layout other : kLayouts) {
    if (other != c.current_problem().layout) add(3, {33, 40, 24}).layout = other;
  }
  add(3, {97, 89, 101}).batch_padding = 40;
  for (const shared_operand shared : {shared_operand::none, shared_operand::a, shared_operand::b}) {
    problem& general = add(4, {33, 70, 41});
    general.batch_shared = shared;
    general.padding = 5;
    general.batch_padding = 7;
    set_scalars(general);
  }
  add(3, {66, 34, 129}).data = integers_of(c, fill::integers);
  return list;
}

// Other group sizes and counts than the problem's: one, empty groups, more groups than rows.
std::vector<problem> other_groups(const candidate& c) {
  std::vector<problem> list;
  for (const data::group_rows rows : data::kGroupRows) {
    const auto add = [&](std::int64_t count, const shape& size) -> problem& {
      problem& p = list.emplace_back(sized(c, size));
      p.groups = count;
      p.group_rows = rows;
      return p;
    };
    for (const std::int64_t count : {1, 2, 5}) add(count, {129, 70, 41});
    add(67, {135, 33, 24});
    add(300, {330, 17, 9});
    problem& general = add(20, {13, 33, 24});
    general.padding = 5;
    general.batch_padding = 7;  // between one group's B and the next one's
    set_scalars(general);
  }
  return list;
}

// Narrower and wider limits of clamp than the problem's.
std::vector<problem> other_limits(const candidate& c) {
  const auto with = [&](double factor, double to_low, double to_high) {
    problem p = sized(c, {33, 70, 41});
    for (epilogue_stage& stage : p.epilogue) {
      if (stage.kind != stage_kind::clamp) continue;
      stage.low = factor * stage.low + to_low;
      stage.high = factor * stage.high + to_high;
    }
    return p;
  };
  return {with(0.5, -0.25, 0.125), with(2, -1, 2)};
}

// The layouts other than the problem's that the variant takes.
std::vector<problem> other_layouts(const candidate& c) {
  std::vector<problem> list;
  for (const layout other : kLayouts) {
    if (other == c.current_problem().layout) continue;
    const auto add = [&](const shape& size) -> problem& {
      problem& p = list.emplace_back(sized(c, size));
      p.layout = other;
      return p;
    };
    for (const shape& size : {shape{1, 1, 1}, shape{5, 1, 9}, shape{64, 64, 64},
                              shape{128, 256, 64}, shape{97, 89, 101}})
      add(size);
    problem& padded = add({33, 70, 41});
    padded.padding = 5;
    set_scalars(padded);
    add({66, 34, 129}).data = integers_of(c, fill::integers);
  }
  return list;
}

// A and B times powers of two, both or in opposite directions, with an alpha that keeps the size of
// C: narrower formats overflow or underflow. For f32 also a column of A that is 2^30 times larger
// and contributes nothing: formats with one exponent per row lose the rest, which only a norm-wise
// bound allows. For integers, values of all bits, whose products and sums wrap.
std::vector<problem> scaled_inputs(const candidate& c) {
  std::vector<problem> list;
  const problem p = sized(c, {33, 70, 300});
  if (is_integer(p.dtype)) {
    for (const fill data : {fill::full, fill::full_b}) {
      problem& wrapping = list.emplace_back(p);
      wrapping.data = data;
      set_scalars(wrapping);
    }
    return list;
  }
  const auto [up, down] = range_of(c);
  for (const fill kind : {fill::scaled, fill::uneven})
    for (const int exponent : {up, down}) list.push_back(scaled_by(p, kind, exponent));
  list.front().beta = -1.3;
  const bool is_wide = p.dtype == KZOO_F32 || p.dtype == KZOO_F64;
  if (is_wide && c.declared() != KZOO_COMPUTE_FP32_NORMWISE)
    for (const fill kind : {fill::unequal, fill::unequal_b}) list.emplace_back(p).data = kind;
  return list;
}

bool has_stage(const candidate& c, std::initializer_list<stage_kind> kinds) {
  return std::ranges::any_of(c.current_problem().epilogue, [&](const epilogue_stage& stage) {
    return std::ranges::count(kinds, stage.kind) > 0;
  });
}

// Infinities and NaN in A, B and C must reach exactly the elements of C that IEEE 754 says. Only
// NaN with GELU or SiLU, whose formulas differ at minus infinity.
std::vector<problem> specials(const candidate& c) {
  using enum stage_kind;
  const filling contents{fill::specials, has_stage(c, {gelu, gelu_tanh, silu}) ? 1.0 : 0.0};
  std::vector<problem> list;
  for (const shape& size : {shape{97, 89, 101}, shape{128, 256, 64}})
    list.emplace_back(sized(c, size)).data = contents;
  list.front().beta = -1.3;
  return list;
}

// Other random seeds, each with a new instance.
std::vector<problem> seeds(const candidate& c) {
  std::vector<problem> list;
  for (const std::uint64_t seed : {2, 3, 5, 7})
    list.emplace_back(sized(c, {97, 89, 101})).seed = seed;
  return list;
}

// Scalars, padding, tails, small integers and the precision probe at the problem's own size, by
// which kernels choose their path. The probes and scaled inputs only change the numbers of the own
// problem, which a kernel cannot reject.
std::vector<problem> near_size(const candidate& c) {
  const problem& own = c.current_problem();
  const bool integer = is_integer(own.dtype);
  std::vector<problem> list;
  const auto add = [&](std::int64_t more_m, std::int64_t more_n, std::int64_t more_k) -> problem& {
    problem p = own;
    p.m = std::max<std::int64_t>(1, p.m + more_m);
    p.n = std::max<std::int64_t>(1, p.n + more_n);
    p.k = std::max<std::int64_t>(1, p.k + more_k);
    set_scalars(p);
    return list.emplace_back(p);
  };
  const size_granularity& step = c.who().description.granularity;
  add(0, 0, 0);
  add(0, 0, 0).padding += 8;
  add(step.m, step.n, step.k);
  add(-step.m, -step.n, -step.k);
  add(0, 0, step.k).beta = 0;
  problem& integers = add(0, 0, 0);
  integers.data = integers_of(c, fill::integers);
  integers.alpha = integers.beta = 1;
  if (is_probed(c)) {
    for (const filling& data : probes_of(c, own.dtype.a == KZOO_I32 ? fill::full : fill::probe)) {
      list.emplace_back(own).data = data;
      if (own.alpha == 1 && own.beta == 0) continue;
      problem& exact = list.emplace_back(list.back());  // as far as it takes other scalars
      exact.alpha = 1;
      exact.beta = 0;
    }
  }
  if (integer || !may_be_scaled(c)) return list;
  list.push_back(scaled_by(own, fill::scaled, range_of(c).up));
  list.emplace_back(own).data = {fill::uneven, double(range_of(c).up)};
  if (exponent_of_products(list.back()) != 0) list.pop_back();
  return list;
}

// Whether the problem is also wrong with numbers that every precision represents exactly.
bool is_wrong_in_any_precision(candidate& c, problem p) try {
  p.data = fill::signs;
  sweep(c, {p});
  return false;
} catch (const failed&) {
  return true;
}

// Inputs that the declared precision represents exactly and no narrower one does.
covered run_precision_probe(candidate& c) {
  const element_types& types = c.current_problem().dtype;
  // All sums are exact up to this K; 32-bit integers wrap.
  const std::int64_t exact_k = types.a == KZOO_I8                       ? 16384
                               : c.declared() == KZOO_COMPUTE_FP16_SUMS ? 16
                                                                        : 4096;
  // Sums of 12-bit integers must not wrap; sums of bytes must exceed fp32's exact integers.
  const std::int64_t most_k = types.a == KZOO_I32 ? 40 : exact_k;
  std::vector<problem> list;
  for (const shape& size : {shape{64, 96, std::min<std::int64_t>(most_k, 4096)},
                            shape{17, 21, most_k}, shape{33, 65, 40}}) {
    problem p = sized(c, size);
    p.k -= p.k % std::min(p.k, c.who().description.granularity.k);
    if (is_integer(types)) p.alpha = -3;
    const problem taken = fit(c, p).taken.value_or(p);
    const bool is_new = list.empty() || list.back().k != taken.k;
    if (taken.k > exact_k || !is_new) continue;
    for (const filling& data : probes_of(c, fill::probe)) list.emplace_back(taken).data = data;
  }
  if (list.empty()) throw skipped(fmt::format("sums are exact up to K = {} only", exact_k));
  try {
    return sweep(c, list);
  } catch (const failed& f) {
    if (f.step != step::kResult || is_wrong_in_any_precision(c, list.front())) throw;
    throw failed(why_probed(types, c.declared()) + f.what(), f.errors);
  }
}

using problems = std::vector<problem>(const candidate&);

template <problems List>
covered run_sweep(candidate& c) {
  return sweep(c, List(c));
}

// A sweep over kinds of problems that the variant may reject.
constexpr char kNoLayouts[] = "it takes no other layout",
               kNoBatches[] = "it takes one product at a time",
               kNoLimits[] = "it takes no other limits of clamp";
template <problems List, const char* kWhenDeclined>
covered run_optional(candidate& c) try {
  covered all = sweep(c, List(c));
  all.not_checked.reset();
  return all;
} catch (const skipped&) {
  return {kWhenDeclined};
}

bool has_clamp(const candidate& c) { return has_stage(c, {stage_kind::clamp}); }
bool has_groups(const candidate& c) { return c.current_problem().groups > 0; }
bool may_be_batch(const candidate& c) { return !has_groups(c); }

// A norm-wise bound says nothing about infinite norms. PyTorch and CUDA differ in max(NaN, 0).
bool has_specials(const candidate& c) {
  return !is_integer(c.current_problem().dtype) && c.declared() != KZOO_COMPUTE_FP32_NORMWISE &&
         !has_stage(c, {stage_kind::relu, stage_kind::clamp});
}

}  // namespace

std::vector<check> sweeps() {
  return {{.name = "shapes", .run = run_sweep<shapes>},
          {.name = "alpha and beta", .run = run_sweep<scalars>},
          {.name = "exact integers", .run = run_sweep<exact_integers>},
          {.name = "precision probe", .run = run_precision_probe, .applies_to = is_probed},
          {.name = "scaled inputs", .run = run_sweep<scaled_inputs>, .applies_to = may_be_scaled},
          {.name = "layouts", .run = run_optional<other_layouts, kNoLayouts>},
          {.name = "batches", .run = run_optional<batches, kNoBatches>, .applies_to = may_be_batch},
          {.name = "groups", .run = run_sweep<other_groups>, .applies_to = has_groups},
          {.name = "limits of clamp",
           .run = run_optional<other_limits, kNoLimits>,
           .applies_to = has_clamp},
          {.name = "infinities", .run = run_sweep<specials>, .applies_to = has_specials},
          {.name = "seeds", .run = run_sweep<seeds>},
          {.name = "near its size", .run = run_sweep<near_size>, .is_about_problem = true}};
}

}  // namespace kzoo::checks
