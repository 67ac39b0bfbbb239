#include "experiment/problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace kzoo::experiment {
namespace {

template <class T>
std::vector<T> flatten(const std::vector<std::vector<T>>& lists) {
  std::vector<T> result;
  for (const auto& list : lists) result.insert(result.end(), list.begin(), list.end());
  return result;
}

words<kzoo_type> type_words() {
  words<kzoo_type> result;
  for (kzoo_type type : {KZOO_F32, KZOO_F16, KZOO_BF16, KZOO_I32})
    result.emplace_back(type_name(type), type);
  return result;
}

words<fill> fill_words() {
  words<fill> result;
  for (const fill f : kFills) result.emplace_back(fill_name(f), f);
  return result;
}

// `sizes`, or every combination of m, n and k.
std::vector<extents> read_shapes(table_reader& keys) {
  constexpr std::array kSides = {"m", "n", "k"};
  const auto sizes = keys.find("sizes");
  std::array<std::vector<std::int64_t>, 3> sides;
  bool by_side = false, read = true;
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<std::vector<std::int64_t>> lists = {{problem().m}};
    const auto side = keys.find(kSides[i]);
    keys.read_list(kSides[i], lists, dimensions);
    sides[i] = flatten(lists);
    by_side = by_side || side;
    read = read && !sides[i].empty();
    if (side && sizes) side->error("give either 'sizes' or 'm', 'n' and 'k'");
  }
  std::vector<std::vector<extents>> lists;
  keys.read_list("sizes", lists, shapes);
  if (sizes) return flatten(lists);

  const std::size_t count = sides[0].size() * sides[1].size() * sides[2].size();
  if (by_side && count > kMostProblems) {
    for (const char* side : kSides) {
      const auto found = keys.find(side);
      if (!found) continue;
      found->error(fmt::format("m, n and k combine to {} sizes; at most {} are allowed", count,
                               kMostProblems));
      return {};
    }
  }
  std::vector<extents> result;
  for (const std::int64_t m : sides[0])
    for (const std::int64_t n : sides[1])
      for (const std::int64_t k : sides[2]) result.push_back({m, n, k});
  return result;
}

// alpha or beta: within the range of fp32, and for integer types a 32-bit integer.
std::optional<double> read_scalar(const value& v, std::string_view key, bool whole) {
  constexpr double kMost = std::numeric_limits<float>::max();
  using i32 = std::numeric_limits<std::int32_t>;
  const auto number = number_in(-kMost, kMost)(v);
  if (!number || !whole) return number;
  if (*number != std::trunc(*number)) {
    v.report.error(v.content.where,
                   fmt::format("{} = {} is not an integer, and dtype i32 needs one", key, *number));
    return {};
  }
  if (*number < i32::min() || *number > i32::max()) {
    v.report.error(v.content.where, fmt::format("{} = {} is not within dtype i32, {} to {}", key,
                                                *number, i32::min(), i32::max()));
    return {};
  }
  return number;
}

problem_set read_set(table_reader& keys, const location& where) {
  problem_set set;
  set.where = where;
  set.shapes = read_shapes(keys);
  keys.read_list("dtype", set.dtypes, one_of(type_words()));
  const bool whole = std::ranges::any_of(set.dtypes, is_integer);
  keys.read_list("alpha", set.alpha,
                 [&](const value& v) { return read_scalar(v, "alpha", whole); });
  keys.read_list("beta", set.beta, [&](const value& v) { return read_scalar(v, "beta", whole); });
  keys.read_list("padding", set.padding, integer_in(0, kMostPadding));
  keys.read("fill", set.data, one_of(fill_words()));
  keys.read("seed", set.seed, integer_in(0, std::numeric_limits<std::int64_t>::max()));
  if (whole && set.data == fill::uniform)
    keys.find("fill")->error("\"uniform\" fills with fractions, and dtype i32 needs integers");
  const auto is_f32 = [](kzoo_type type) { return type == KZOO_F32; };
  if (set.data == fill::unequal && !std::ranges::all_of(set.dtypes, is_f32))
    keys.find("fill")->error("\"unequal\" has numbers up to 2^30, and needs dtype f32");
  keys.finish();
  return set;
}

double combinations(const problem_set& s) {
  double count = 1;
  for (std::size_t n :
       {s.dtypes.size(), s.shapes.size(), s.alpha.size(), s.beta.size(), s.padding.size()})
    count *= static_cast<double>(n);
  return count;
}

}  // namespace

std::vector<problem_set> read_problem_sets(table_reader& file, input::diagnostics& report) {
  std::vector<problem_set> sets;
  const auto found = file.find("problem");
  if (!found) {
    problem_set usual;
    usual.where = report.at(0, 0);
    usual.shapes = {{problem().m, problem().n, problem().k}};
    return {usual};
  }
  for (const value& element : found->elements()) {
    const auto* table = element.get<node_table>();
    if (!table) {
      element.expected("a table: [problem], or [[problem]] for several");
      continue;
    }
    table_reader keys(*table, "problem", report, &file);
    sets.push_back(read_set(keys, element.content.where));
  }
  return sets;
}

std::vector<extents> distinct_shapes(const std::vector<problem_set>& sets) {
  std::set<extents> result;
  for (const problem_set& set : sets) result.insert(set.shapes.begin(), set.shapes.end());
  return {result.begin(), result.end()};
}

std::vector<problem> expand(const std::vector<problem_set>& sets, input::diagnostics& report) {
  double count = 0;
  for (const problem_set& s : sets) {
    count += combinations(s);
    if (count <= static_cast<double>(kMostProblems)) continue;
    report.error(s.where, fmt::format("the file expands to {:.0f} problems here; at most {} are "
                                      "allowed",
                                      count, kMostProblems));
    return {};
  }
  std::vector<problem> result;
  std::set<problem> seen;
  for (const problem_set& s : sets)
    for (const kzoo_type dtype : s.dtypes)
      for (const auto& [m, n, k] : s.shapes)
        for (const double alpha : s.alpha)
          for (const double beta : s.beta)
            for (const std::int64_t padding : s.padding) {
              const fill data = s.data.value_or(default_fill(dtype));
              const problem p{m, n, k, dtype, alpha, beta, data, padding, s.seed};
              if (seen.insert(p).second) result.push_back(p);
            }
  return result;
}

}  // namespace kzoo::experiment
