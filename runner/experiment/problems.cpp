#include "experiment/problems.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

namespace kzoo::experiment {
namespace {

template <class T>
std::vector<T> flatten(const std::vector<std::vector<T>>& lists) {
  std::vector<T> result;
  for (const auto& list : lists) result.insert(result.end(), list.begin(), list.end());
  return result;
}

// "sparse:0.9": a fill, with its parameter if it has one.
std::optional<filling> read_fill(const value& v) {
  if (const auto* name = v.get<std::string>())
    if (const auto known = filling_from_name(*name)) return known;
  std::vector<std::string> forms;
  for (const fill f : kFills) {
    const fill_range range = parameter_of(f);
    forms.push_back(range.most == 0 ? fmt::format("\"{}\"", name_of(f))
                                    : fmt::format("\"{}:N\" with {} N from {} to {}", name_of(f),
                                                  range.whole ? "an integer" : "a number",
                                                  range.least, range.most));
  }
  v.expected(fmt::format("one of {}", fmt::join(forms, ", ")));
  return {};
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
      found->error("m, n and k combine to {} sizes; at most {} are allowed", count, kMostProblems);
      return {};
    }
  }
  std::vector<extents> result;
  for (const std::int64_t m : sides[0])
    for (const std::int64_t n : sides[1])
      for (const std::int64_t k : sides[2]) result.push_back({m, n, k});
  return result;
}

// alpha or beta, within fp32's range. `integers`: "", or the name of a type that needs integers.
std::optional<double> read_scalar(const value& v, std::string_view key,
                                  const std::string& integers) {
  constexpr double kMost = std::numeric_limits<float>::max();
  using i32 = std::numeric_limits<std::int32_t>;
  const auto number = number_in(-kMost, kMost)(v);
  if (!number || integers.empty()) return number;
  if (*number != std::trunc(*number)) {
    v.report.error(v.content.where, "{} = {} is not an integer, and dtype {} needs one", key,
                   *number, integers);
    return {};
  }
  if (*number < i32::min() || *number > i32::max()) {
    v.report.error(v.content.where, "{} = {} is not within dtype i32, {} to {}", key, *number,
                   i32::min(), i32::max());
    return {};
  }
  return number;
}

void read_scale(table_reader& keys, const char* key, const std::vector<element_types>& dtypes,
                double& scale) {
  constexpr double kMost = 1e30;
  keys.read(key, scale, number_above_zero(kMost));
  const auto found = keys.find(key);
  const auto unscaled = std::ranges::find_if_not(dtypes, is_scaled);
  if (found && unscaled != dtypes.end())
    found->error("only fp8 matrices have scales, and dtype {} is not fp8", types_name(*unscaled));
}

void read_block(table_reader& keys, bool of_b, const std::vector<element_types>& dtypes,
                scale_block& block) {
  const char* const key = of_b ? "scale_block_b" : "scale_block_a";
  const char* const one = of_b ? "scale_b" : "scale_a";  // a scale of the whole matrix
  keys.read(key, block, read_scale_block);
  const auto found = keys.find(key);
  if (!found) return;
  const auto unscaled = std::ranges::find_if_not(
      dtypes, [&](const element_types& types) { return has_scale_blocks(types, of_b); });
  if (unscaled != dtypes.end())
    found->error("blocks of fp8 matrices, and of a B of i4, have scales, and not those of dtype {}",
                 types_name(*unscaled));
  if (keys.find(one)) found->error("give either '{}' or '{}'", key, one);
}

void read_groups(table_reader& keys, problem_set& set) {
  keys.read_list("groups", set.groups, integer_in(1, kMostGroups));
  keys.read_list("group_rows", set.group_rows, one_of<data::group_rows>());
  const auto groups = keys.find("groups");
  if (const auto rows = keys.find("group_rows"); rows && !groups)
    rows->error("says how many rows groups have, and there are none; add groups = 8");
  if (groups && keys.find("batch")) groups->error("a problem with groups of rows is no batch");
}

void read_epilogues(table_reader& keys, problem_set& set) {
  keys.read_list("epilogue", set.epilogues, read_epilogue);
  const auto without = std::ranges::find_if_not(set.dtypes, has_epilogues);
  const bool is_asked_for =
      std::ranges::any_of(set.epilogues, [](const stage_list& e) { return !e.empty(); });
  if (is_asked_for && without != set.dtypes.end())
    keys.find("epilogue")
        ->error("epilogues are for results of f32, f16 and bf16, and dtype {} is none of them",
                types_name(*without));
}

void read_batch(table_reader& keys, problem_set& set) {
  keys.read_list("batch", set.batch, integer_in(1, kLargestBatch));
  keys.read_list("batch_padding", set.batch_padding,
                 [](const value& v) -> std::optional<std::int64_t> {
                   const auto* apart = v.get<std::int64_t>();
                   if (apart == nullptr || *apart >= 0) return integer_in(0, kMostPadding)(v);
                   v.expected(fmt::format("an integer from 0 to {}", kMostPadding),
                              ", with which products would overlap");
                   return {};
                 });
  keys.read_list("batch_shared", set.batch_shared, one_of<shared_operand>());
  if (std::ranges::any_of(set.batch, [](std::int64_t count) { return count > 1; })) return;
  for (const char* key : {"batch_padding", "batch_shared"})
    if (const auto found = keys.find(key); found && !keys.find("batch"))
      found->error("says how a batch is stored, and there is none; add batch = 8");
}

precision_set lower_than_usual(const precision_set& allowed, const element_types& dtype) {
  precision_set lower;
  for (const kzoo_precision p : kPrecisions)
    if (allowed.contains(p) && is_less_precise(p, usual_precision(dtype.a), dtype)) lower.add(p);
  return lower;
}

bool lowers(const precision_set& allowed, const std::vector<element_types>& dtypes) {
  return std::ranges::any_of(dtypes, [&](const element_types& dtype) {
    return !lower_than_usual(allowed, dtype).empty();
  });
}

// An empty list allows no lower precision than the types demand.
std::optional<precision_set> read_allowed(table_reader& keys) {
  const auto found = keys.find("allow");
  if (!found) return {};
  precision_set allowed;
  const auto* list = found->get<node_list>();
  if (list != nullptr && list->empty()) return allowed;
  std::vector<kzoo_precision> precisions;
  keys.read_list("allow", precisions, one_of(kPrecisions, precision_name));
  for (const kzoo_precision p : precisions) allowed.add(p);
  return allowed;
}

void read_allow(table_reader& keys, problem_set& set) {
  const auto allowed = read_allowed(keys);
  if (!allowed) return;
  set.allow = *allowed;
  if (allowed->empty() || lowers(*allowed, set.dtypes)) return;
  keys.find("allow")->error("is for less than the {} that dtype {} demands",
                            precision_name(usual_precision(set.dtypes.front().a)),
                            types_name(set.dtypes.front()));
}

// Rows of int4 weights, K or N long, need an even number of elements.
void require_whole_bytes(table_reader& keys, const problem_set& set) {
  for (const element_types& dtype : set.dtypes)
    for (const layout given : set.layouts)
      for (const auto& [m, n, k] : set.shapes) {
        problem p = sized(m, n, k, dtype);
        p.layout = given;
        if (p.fills_bytes()) continue;
        keys.find("dtype")->error(
            "rows of a B of i4 have an even number of elements; {} in layout {} has an odd {}",
            shape_name(p), layout_name(given), is_b_transposed(given) ? "K" : "N");
        return;
      }
}

double combinations(const problem_set& s) {
  double count = 1;
  for (std::size_t n :
       {s.dtypes.size(), s.layouts.size(), s.shapes.size(), s.batch.size(), s.batch_padding.size(),
        s.batch_shared.size(), s.groups.size(), s.group_rows.size(), s.alpha.size(), s.beta.size(),
        s.epilogues.size(), s.padding.size()})
    count *= static_cast<double>(n);
  return count;
}

// Each problem with each of the values.
void multiply(std::vector<problem>& all, const auto& values, const auto& set_value) {
  std::vector<problem> more;
  for (const problem& p : all)
    for (const auto& value : values) set_value(more.emplace_back(p), value);
  all = std::move(more);
}

// A single GEMM several times if there are several ways to store batches.
std::vector<problem> combined(const problem_set& s) {
  std::vector<problem> all{s.common};
  const auto each = [&](const auto& values, auto problem::*member) {
    multiply(all, values, [&](problem& p, const auto& value) { p.*member = value; });
  };
  multiply(all, s.dtypes, [&](problem& p, const element_types& dtype) {
    p.dtype = dtype;
    p.data = s.data.value_or(default_fill(dtype));
    p.allow = lower_than_usual(s.allow, dtype);
  });
  each(s.layouts, &problem::layout);
  multiply(all, s.shapes, [](problem& p, const extents& shape) {
    p.m = shape[0];
    p.n = shape[1];
    p.k = shape[2];
  });
  each(s.batch, &problem::batch);
  each(s.batch_padding, &problem::batch_padding);
  each(s.batch_shared, &problem::batch_shared);
  each(s.groups, &problem::groups);
  each(s.group_rows, &problem::group_rows);
  each(s.alpha, &problem::alpha);
  each(s.beta, &problem::beta);
  each(s.epilogues, &problem::epilogue);
  each(s.padding, &problem::padding);
  for (problem& p : all) {
    if (p.groups > 0) p.batch = 1;
    if (p.batch > 1) continue;
    p.batch_padding = 0;
    p.batch_shared = shared_operand::none;
  }
  return all;
}

}  // namespace

std::optional<stage_list> read_epilogue(const value& v) {
  if (const auto* name = v.get<std::string>()) {
    try {
      return epilogue_from_name(*name);
    } catch (const std::invalid_argument& fault) {
      v.report.error(v.content.where, "epilogue: {}", fault.what());
      return {};
    }
  }
  v.expected("the stages of an epilogue, as in \"bias + relu\"");
  return {};
}

std::optional<scale_block> read_scale_block(const value& v) {
  if (const auto* name = v.get<std::string>())
    if (const auto known = scale_block_from_name(*name)) return known;
  v.expected(
      fmt::format("a block with a scale, up to {} rows (columns) and steps of K, as in "
                  "\"1x128\"",
                  kLargestScaleBlock));
  return {};
}

problem_set read_problem(table_reader& keys, const location& where) {
  problem_set set;
  set.where = where;
  set.shapes = read_shapes(keys);
  keys.read_list("dtype", set.dtypes, one_of(kElementTypes, types_name));
  keys.read_list("layout", set.layouts, one_of(kLayouts, layout_name));
  const auto integer = std::ranges::find_if(
      set.dtypes, [](const element_types& types) { return is_integer(types); });
  const std::string integers = integer == set.dtypes.end() ? "" : types_name(*integer);
  keys.read_list("alpha", set.alpha,
                 [&](const value& v) { return read_scalar(v, "alpha", integers); });
  keys.read_list("beta", set.beta,
                 [&](const value& v) { return read_scalar(v, "beta", integers); });
  if (const auto beta = keys.find("beta")) set.beta_where = beta->content.where;
  read_scale(keys, "scale_a", set.dtypes, set.common.scale_a);
  read_scale(keys, "scale_b", set.dtypes, set.common.scale_b);
  read_block(keys, false, set.dtypes, set.common.scale_block_a);
  read_block(keys, true, set.dtypes, set.common.scale_block_b);
  read_epilogues(keys, set);
  read_batch(keys, set);
  read_groups(keys, set);
  keys.read_list("padding", set.padding, integer_in(0, kMostPadding));
  keys.read("fill", set.data, read_fill);
  keys.read("seed", set.common.seed, integer_in(0, std::numeric_limits<std::int64_t>::max()));
  if (!integers.empty() && set.data && !has_integers(set.data->kind))
    keys.find("fill")->error("\"{}\" fills with fractions, and dtype {} needs integers",
                             name_of(set.data->kind), integers);
  const auto is_f32 = [](const element_types& types) { return types == KZOO_F32; };
  const bool needs_f32 =
      set.data && (set.data->kind == fill::unequal || set.data->kind == fill::probe_b);
  if (needs_f32 && !std::ranges::all_of(set.dtypes, is_f32))
    keys.find("fill")->error("\"{}\" needs dtype f32", name_of(set.data->kind));
  require_whole_bytes(keys, set);
  read_allow(keys, set);
  keys.finish();
  return set;
}

std::vector<problem_set> read_problem_sets(table_reader& file, input::diagnostics& report) {
  std::vector<problem_set> sets;
  const precision_set allowed = read_allowed(file).value_or(precision_set{});
  const auto lowered_here = [&](const problem_set& set) { return lowers(allowed, set.dtypes); };
  const auto found = file.find("problem");
  if (!found) {
    problem_set usual;
    usual.where = report.at(0, 0);
    usual.shapes = {{problem().m, problem().n, problem().k}};
    usual.allow = allowed;
    return {usual};
  }
  for (const value& element : found->elements()) {
    const auto* table = element.get<node_table>();
    if (!table) {
      element.expected("a table: [problem], or [[problem]] for several");
      continue;
    }
    table_reader keys(*table, "problem", report, &file);
    sets.push_back(read_problem(keys, element.content.where));
    if (!keys.find("allow")) sets.back().allow = allowed;
  }
  if (!allowed.empty() && std::ranges::none_of(sets, lowered_here))
    file.find("allow")->error("is no less than what the types of any problem demand");
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
    report.error(s.where, "the file expands to {:.0f} problems here; at most {} are allowed", count,
                 kMostProblems);
    return {};
  }
  std::vector<problem> result;
  std::set<problem> seen;
  for (const problem_set& s : sets)
    for (const problem& p : combined(s))
      if (seen.insert(p).second) result.push_back(p);
  return result;
}

}  // namespace kzoo::experiment
