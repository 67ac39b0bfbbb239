#include "checks/sweeps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace kzoo::checks {
namespace {

struct shape {
  std::int64_t m, n, k;
};

problem sized(kzoo_type dtype, const shape& s) { return kzoo::sized(s.m, s.n, s.k, dtype); }

}  // namespace

std::vector<problem> shapes::problems(const candidate& c) const {
  constexpr std::array kShapes = {
      shape{1, 1, 1},      shape{1, 129, 7},    shape{127, 1, 65},   shape{17, 19, 1},
      shape{2, 3, 5},      shape{15, 16, 17},   shape{31, 33, 32},   shape{64, 64, 64},
      shape{63, 65, 127},  shape{97, 89, 101},  shape{128, 128, 64}, shape{129, 127, 33},
      shape{65, 130, 257}, shape{255, 257, 16}, shape{256, 136, 72}, shape{40, 520, 24},
      shape{1160, 60, 8},  shape{60, 1160, 8},  shape{3, 5, 70001}};
  std::vector<problem> list;
  for (const shape& size : kShapes) list.push_back(sized(c.current_problem().dtype, size));
  // Odd and even numbers of k tiles, for any tile size.
  for (std::int64_t k = 8; k <= 96; k += 8)
    list.push_back(sized(c.current_problem().dtype, {64, 64, k}));
  for (std::int64_t k = 128; k <= 320; k += 64)
    list.push_back(sized(c.current_problem().dtype, {64, 64, k}));
  // One or two tiles of C and a large K, where split-K and stream-K kernels divide a tile's work.
  for (const std::int64_t n : {50, 70})
    list.push_back(sized(c.current_problem().dtype, {40, n, 2001}));
  for (const std::int64_t padding : {1, 8}) {
    for (const shape& size : {shape{64, 64, 64}, shape{97, 89, 101}, shape{129, 136, 40}}) {
      list.push_back(sized(c.current_problem().dtype, size));
      list.back().padding = padding;
    }
  }
  return list;
}

std::vector<problem> scalars::problems(const candidate& c) const {
  const bool integer = is_integer(c.current_problem().dtype);
  const double some_alpha = integer ? -3.0 : -0.7, some_beta = integer ? -2.0 : -1.3;
  std::vector<problem> list;
  const auto add = [&](const shape& size, double alpha, double beta, std::int64_t padding) {
    list.push_back(sized(c.current_problem().dtype, size));
    list.back().alpha = alpha;
    list.back().beta = beta;
    list.back().padding = padding;
  };
  for (const double alpha : {0.0, 1.0, some_alpha}) {
    for (const double beta : {0.0, 1.0, some_beta}) {
      for (const std::int64_t padding : {0, 5}) add({33, 70, 41}, alpha, beta, padding);
    }
  }
  // Shapes that kernels special-case: vectors, outer products, and a K large enough for split-K.
  for (const shape& size :
       {shape{1, 129, 65}, shape{127, 1, 65}, shape{33, 40, 1}, shape{3, 5, 5001}}) {
    add(size, some_alpha, some_beta, 5);
  }
  // Rows of whole float4s, many k tiles, and tiles divided by stream-K.
  for (const double beta : {0.0, some_beta}) {
    for (const std::int64_t padding : {0, 4}) add({40, 180, 1056}, some_alpha, beta, padding);
  }
  return list;
}

std::vector<problem> exact_integers::problems(const candidate& c) const {
  std::vector<problem> list;
  for (const shape& size : {shape{66, 34, 129}, shape{64, 96, 4096}, shape{33, 65, 1023}}) {
    for (const double beta : {0.0, 1.0}) {
      list.push_back(sized(c.current_problem().dtype, size));
      list.back().data = fill::integers;
      list.back().beta = beta;
    }
  }
  return list;
}

std::vector<problem> seeds::problems(const candidate& c) const {
  std::vector<problem> list;
  for (const std::uint64_t seed : {2, 3, 5, 7}) {
    list.push_back(sized(c.current_problem().dtype, {97, 89, 101}));
    list.back().seed = seed;
  }
  return list;
}

std::vector<problem> near_size::problems(const candidate& c) const {
  const problem& own = c.current_problem();
  const bool integer = is_integer(own.dtype);
  std::vector<problem> list;
  const auto add = [&](std::int64_t more_m, std::int64_t more_n, std::int64_t more_k) -> problem& {
    problem p = own;
    p.m = std::max<std::int64_t>(1, p.m + more_m);
    p.n = std::max<std::int64_t>(1, p.n + more_n);
    p.k = std::max<std::int64_t>(1, p.k + more_k);
    p.alpha = integer ? -3.0 : -0.7;
    p.beta = integer ? -2.0 : -1.3;
    return list.emplace_back(p);
  };
  add(0, 0, 0);
  add(0, 0, 0).padding += 8;
  add(1, 1, 1);
  add(-1, -1, -1);
  add(0, 0, 1).beta = 0;
  problem& integers = add(0, 0, 0);
  integers.data = fill::integers;
  integers.alpha = integers.beta = 1;
  const auto add_probe = [&](fill data) {
    problem& probe = add(0, 0, 0);
    probe.data = data;
    probe.alpha = 1;
    probe.beta = 0;
  };
  if (!integer && (own.dtype != KZOO_F32 || is_fp32(c.declared()))) add_probe(fill::probe);
  if (own.dtype == KZOO_F32 && is_fp32(c.declared())) add_probe(fill::probe_b);
  return list;
}

std::string precision_probe::run(candidate& c) const {
  const kzoo_type dtype = c.current_problem().dtype;
  if (dtype == KZOO_F32 && !is_fp32(c.declared()))
    throw skipped(fmt::format("it declares {}, not fp32", precision_name(c.declared())));
  const std::int64_t most_k =
      is_integer(dtype) ? 40 : 4096;  // so that integer sums do not overflow
  std::vector<problem> list;
  for (const shape& size : {shape{64, 96, most_k}, shape{33, 65, 40}}) {
    list.push_back(sized(dtype, size));
    list.back().data = fill::probe;
    if (is_integer(dtype)) list.back().alpha = -3;
    if (dtype == KZOO_F32) {  // a kernel may split one of the inputs only
      list.push_back(list.back());
      list.back().data = fill::probe_b;
    }
  }
  try {
    return sweep(c, list);
  } catch (const failed& f) {
    throw failed(
        fmt::format("{}, but {}",
                    is_integer(dtype)   ? "declares int32"
                    : dtype == KZOO_F32 ? fmt::format("declares {}", precision_name(c.declared()))
                                        : "must accumulate in fp32",
                    is_integer(dtype) ? "products of 12-bit numbers are not added exactly: "
                                      : "results that fp32 represents exactly are not exact: ") +
            f.what(),
        f.errors);
  }
}

}  // namespace kzoo::checks
