#include "experiment/published.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kzoo::experiment {
namespace {

constexpr std::string_view kKeyForm =
    "a plugin such as \"smem\", or a variant such as \"smem:32x32\", with or without a size such "
    "as \"@1024\" or \"@512x256x128\"";

struct figure_key {
  std::string cell;  // "smem:32x32"
  extents size;
};

// "smem:32x32@1024", or without the size where the file has only one.
std::optional<figure_key> parse_key(const table_entry& entry, const std::vector<extents>& shapes,
                                    input::diagnostics& report) {
  const std::string_view key = entry.key;
  const std::size_t sign = key.find('@');
  const std::string_view cell = key.substr(0, sign);
  if (!is_kernel_name(cell)) {
    report.error(entry.where,
                 fmt::format("expected {}, found {}", kKeyForm, input::in_quotes(key)));
    return {};
  }
  if (sign != std::string_view::npos) {
    const auto size = parse_shape(key.substr(sign + 1));
    if (size) return figure_key{std::string(cell), *size};
    report.error(entry.where,
                 fmt::format("after the @ in {}: expected {}", input::in_quotes(key), kShapeForm));
    return {};
  }
  if (shapes.size() == 1) return figure_key{std::string(cell), shapes.front()};
  if (!shapes.empty())
    report.error(entry.where, fmt::format("{} needs a size, as in \"{}@{}\": the experiment has {}",
                                          input::in_quotes(key), cell, shape_text(shapes.front()),
                                          shapes.size()));
  return {};
}

double milliseconds(double gflops, const extents& s) {
  const problem p{s[0], s[1], s[2]};
  return p.flops() / (gflops * 1e6);
}

void read_column(const node_table& table, const value& column, bool in_gflops,
                 const std::vector<extents>& shapes, std::map<std::string, double>& ms) {
  constexpr double kMost = 1e12;
  table_reader keys(table, column.name, column.report);
  for (const auto& [entry, content] : keys.all()) {
    const auto figure = number_above_zero(kMost)(content);
    const auto key = parse_key(entry, shapes, column.report);
    if (!figure || !key) continue;
    const std::string name = fmt::format("{}@{}", key->cell, shape_text(key->size));
    const double time = in_gflops ? milliseconds(*figure, key->size) : *figure;
    if (!ms.emplace(name, time).second)
      column.report.error(entry.where,
                          fmt::format("{} has a figure already", input::in_quotes(name)));
  }
}

void read_columns(table_reader& columns, bool in_gflops, const std::vector<extents>& shapes,
                  std::vector<results::published_column>& result) {
  for (const auto& [entry, content] : columns.all()) {
    const auto* table = content.get<node_table>();
    const bool taken =
        std::ranges::find(result, entry.key, &results::published_column::label) != result.end();
    if (entry.key.empty())
      content.report.error(entry.where, "a published column needs a label");
    else if (taken)
      content.report.error(entry.where, fmt::format("the column {} already exists, under ms",
                                                    input::in_quotes(entry.key)));
    else if (!table)
      content.expected("a table of figures");
    else
      read_column(*table, content, in_gflops, shapes,
                  result.emplace_back(results::published_column{entry.key, {}}).ms);
  }
}

}  // namespace

results::published read_published(table_reader& keys, const std::vector<extents>& shapes) {
  results::published result;
  keys.read("source", result.source, text);
  keys.read_table("ms", [&](table_reader& t) { read_columns(t, false, shapes, result.columns); });
  keys.read_table("gflops",
                  [&](table_reader& t) { read_columns(t, true, shapes, result.columns); });
  return result;
}

}  // namespace kzoo::experiment
