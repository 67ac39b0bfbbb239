#include "experiment/names.hpp"

#include "core/problem.hpp"
#include "input/diagnostics.hpp"

#include <fmt/format.h>

#include <charconv>

namespace kzoo::experiment {
namespace {

// Parses all of the text as a decimal number, without sign or spaces.
std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  if (text.empty() || text.front() == '-') return {};
  const auto [stop, fault] = std::from_chars(text.data(), end, number);
  if (fault != std::errc{} || stop != end) return {};
  return number;
}

std::optional<std::int64_t> parse_dimension(std::string_view text) {
  const auto number = parse_number(text);
  if (!number || *number < 1 || *number > kLargestDimension) return {};
  return number;
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
  return count && *count >= 1 && *count <= kMostProducts ? count : std::nullopt;
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

std::optional<tier> find_tier(std::string_view name) {
  for (const tier t : kTiers)
    if (name == tier_name(t)) return t;
  return {};
}

std::string tier_fault(std::string_view text) {
  return fmt::format("expected \"quick\", \"full\" or \"paranoid\", found {}{}",
                     input::in_quotes(text),
                     input::did_you_mean(text, {"quick", "full", "paranoid"}));
}

tier parse_tier(const std::string& name, const std::string& where) {
  if (const auto known = find_tier(name)) return *known;
  input::refuse(where, tier_fault(name));
}

void check_device_name(const std::string& name, const std::string& where) {
  if (!is_device_name(name)) input::refuse(where, device_fault(name));
  if (name == "cuda:all")
    input::refuse(where, "\"cuda:all\" is for experiments; name one device: cuda:N");
}

}  // namespace kzoo::experiment
