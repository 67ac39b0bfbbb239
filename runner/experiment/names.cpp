#include "experiment/names.hpp"

#include "core/problem.hpp"
#include "input/diagnostics.hpp"
#include "os/text.hpp"

#include <fmt/format.h>

namespace kzoo::experiment {
namespace {

// A number without sign or spaces.
std::optional<std::int64_t> parse_number(std::string_view text) {
  return text.starts_with('-') ? std::nullopt : number_from<std::int64_t>(text);
}

std::optional<std::int64_t> parse_dimension(std::string_view text) {
  const auto number = parse_number(text);
  if (!number || *number < 1 || *number > kLargestDimension) return {};
  return number;
}

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
    v.error("the range is empty: from = {} is above to = {}", *from, *to);
    return {};
  }
  std::vector<std::int64_t> result;
  for (std::int64_t at = *from; at <= *to; at = step ? at + *step : at * *times) {
    if (result.size() == kMostProblems) {
      v.error("the range from {} to {} has more than {} sizes", *from, *to, kMostProblems);
      return {};
    }
    result.push_back(at);
  }
  return result;
}

std::optional<std::vector<extents>> triple(const value& v, const node_list& list) {
  if (list.size() != 3) {
    v.error("expected [m, n, k], found a list of {}", list.size());
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

std::optional<extents> parse_shape(std::string_view text) {
  if (const auto side = parse_dimension(text)) return extents{*side, *side, *side};
  const std::size_t first = text.find('x'), last = text.rfind('x');
  if (first == last) return {};
  const auto m = parse_dimension(text.substr(0, first));
  const auto n = parse_dimension(text.substr(first + 1, last - first - 1));
  const auto k = parse_dimension(text.substr(last + 1));
  if (!m || !n || !k) return {};
  return extents{*m, *n, *k};
}

std::string shape_text(const extents& s) { return fmt::format("{}x{}x{}", s[0], s[1], s[2]); }

bool is_device_name(std::string_view text) {
  constexpr std::string_view kNumbered = "cuda:";
  if (text == "auto" || text == "cpu" || text == "cuda" || text == "cuda:all") return true;
  if (!text.starts_with(kNumbered)) return false;
  text.remove_prefix(kNumbered.size());
  constexpr std::int64_t kMostDevices = 1024;
  const auto number = parse_number(text);
  return number && *number < kMostDevices && text == std::to_string(*number);
}

std::string device_fault(std::string_view text) {
  return fmt::format("expected {}, found {}{}", kDeviceForm, input::in_quotes(text),
                     input::did_you_mean(text, {"auto", "cpu", "cuda", "cuda:0", "cuda:all"}));
}

std::optional<layout> find_layout(std::string_view name) {
  for (const layout l : kLayouts)
    if (name == layout_name(l)) return l;
  return {};
}

std::optional<std::int64_t> parse_batch(std::string_view text) {
  const auto count = parse_number(text);
  return count && *count >= 1 && *count <= kLargestBatch ? count : std::nullopt;
}

std::optional<std::int64_t> parse_groups(std::string_view text) {
  const auto count = parse_number(text);
  return count && *count >= 1 && *count <= kMostGroups ? count : std::nullopt;
}

std::optional<number_range> parse_numbers(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = parse_number(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_number(text.substr(dash + 1));
  if (!first || !last || *last < *first) return {};
  return number_range{*first, *last};
}

std::string tier_fault(std::string_view text) {
  return fmt::format("expected \"quick\", \"full\" or \"paranoid\", found {}{}",
                     input::in_quotes(text),
                     input::did_you_mean(text, {"quick", "full", "paranoid"}));
}

tier parse_tier(const std::string& name, const std::string& where) {
  if (const auto known = from_name<tier>(name)) return *known;
  input::refuse(where, tier_fault(name));
}

void check_device_name(const std::string& name, const std::string& where) {
  if (!is_device_name(name)) input::refuse(where, device_fault(name));
  if (name == "cuda:all")
    input::refuse(where, "\"cuda:all\" is for experiments; name one device: cuda:N");
}

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
