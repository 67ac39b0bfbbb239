#include "experiment/sizes.hpp"

#include "core/problem.hpp"

#include <fmt/format.h>

namespace kzoo::experiment {
namespace {

const auto kReadDimension = integer_in(1, kLargestDimension);

// {from = 64, to = 512, step = 64} or {from = 8, to = 4096, times = 2}; both ends are included.
std::optional<std::vector<std::int64_t>> range(const value& v, const node_table& table) {
  std::optional<std::int64_t> from, to, step, times;
  table_reader keys(table, v.name, v.report);
  keys.read("from", from, kReadDimension);
  keys.read("to", to, kReadDimension);
  keys.read("step", step, integer_in(1, kLargestDimension));
  keys.read("times", times, integer_in(2, kLargestDimension));
  keys.finish();

  if (!keys.find("from") || !keys.find("to") || !keys.find("step") == !keys.find("times")) {
    v.error("a range needs 'from', 'to', and one of 'step' (added) or 'times' (multiplied)");
    return {};
  }
  if (!from || !to || !(step || times)) return {};  // already reported
  if (*from > *to) {
    v.error(fmt::format("the range is empty: from = {} is above to = {}", *from, *to));
    return {};
  }
  std::vector<std::int64_t> result;
  for (std::int64_t at = *from; at <= *to; at = step ? at + *step : at * *times) {
    if (result.size() == kMostProblems) {
      v.error(
          fmt::format("the range from {} to {} has more than {} sizes", *from, *to, kMostProblems));
      return {};
    }
    result.push_back(at);
  }
  return result;
}

std::optional<std::vector<extents>> triple(const value& v, const node_list& list) {
  if (list.size() != 3) {
    v.error(fmt::format("expected [m, n, k], found a list of {}", list.size()));
    return {};
  }
  extents result;
  bool good = true;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto dimension = kReadDimension(value{list[i], v.name, v.report});
    result[i] = dimension.value_or(0);
    good = good && dimension;
  }
  return good ? std::optional(std::vector{result}) : std::nullopt;
}

}  // namespace

std::optional<std::vector<std::int64_t>> dimensions(const value& v) {
  if (const auto* table = v.get<node_table>()) return range(v, *table);
  if (const auto one = kReadDimension(v)) return std::vector{*one};
  return {};
}

std::optional<std::vector<extents>> shapes(const value& v) {
  if (const auto* list = v.get<node_list>()) return triple(v, *list);
  if (const auto* text = v.get<std::string>()) {
    if (const auto one = parse_shape(*text)) return std::vector{*one};
    v.expected(kShapeForm);
    return {};
  }
  const auto sides = dimensions(v);
  if (!sides) return {};
  std::vector<extents> cubes;
  for (const std::int64_t side : *sides) cubes.push_back({side, side, side});
  return cubes;
}

}  // namespace kzoo::experiment
