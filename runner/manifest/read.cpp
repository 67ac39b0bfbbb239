#include "manifest/read.hpp"

#include "core/identifier.hpp"
#include "core/problem.hpp"
#include "experiment/document.hpp"
#include "experiment/names.hpp"
#include "experiment/reader.hpp"
#include "manifest/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace kzoo::manifest {
namespace {

using experiment::node_table;
using experiment::table_reader;
using experiment::value;

// One, two or three of them, as dim3 has it; those not given are `one`.
template <class T, class Read>
void read_dim3(table_reader& keys, const char* key, const T& one, std::array<T, 3>& out,
               const Read& read_size) {
  const auto found = keys.find(key);
  if (!found) return;
  std::vector<T> sizes;
  keys.read_list(key, sizes, read_size);
  if (sizes.size() > out.size())
    return found->error(fmt::format("has {} dimensions; there are x, y and z", sizes.size()));
  sizes.resize(out.size(), one);
  std::ranges::copy(sizes, out.begin());
}

// The precision of a kernel that does not name one: fp32 accumulators, or those of its integers.
kzoo_precision usual_precision(const element_types& types) {
  if (is_integer(types)) return KZOO_COMPUTE_INT32;
  switch (types.a) {
    case KZOO_F16:
      return KZOO_COMPUTE_FP16;
    case KZOO_BF16:
      return KZOO_COMPUTE_BF16;
    case KZOO_F64:
      return KZOO_COMPUTE_FP64;
    case KZOO_E4M3:
    case KZOO_E5M2:
      return KZOO_COMPUTE_FP8;
    default:
      return KZOO_COMPUTE_FP32;
  }
}

// A compiled kernel is of one kind each; keys of that name are lists for kernels from sources.
template <class T>
void read_one(table_reader& keys, const char* key, const experiment::words<T>& words, T& out) {
  std::vector<T> list;
  keys.read_list(key, list, experiment::one_of(words));
  if (list.size() > 1)
    keys.find(key)->error("a compiled kernel has one; give the others in [[variant]] tables");
  if (!list.empty()) out = list.front();
}

void read_types(table_reader& keys, kernel_variant& v) {
  experiment::words<element_types> types;
  for (const element_types& t : kElementTypes) types.emplace_back(types_name(t), t);
  element_types given{v.type_a, v.type_b, v.type_c};
  read_one(keys, "types", types, given);
  if (keys.find("types")) v.precision = usual_precision(given);
  v.type_a = given.a;
  v.type_b = given.b;
  v.type_c = given.c;
  experiment::words<kzoo_precision> precisions;
  for (const kzoo_precision p : kPrecisions) precisions.emplace_back(precision_name(p), p);
  keys.read("precision", v.precision, experiment::one_of(precisions));
  experiment::words<layout> layouts;
  for (const layout l : kLayouts) layouts.emplace_back(layout_name(l), l);
  read_one(keys, "layouts", layouts, v.layout);
}

void read_granularity(table_reader& keys, kernel_variant& v) {
  const auto multiple = experiment::integer_in(1, 1 << 20);
  std::vector<std::uint32_t> sizes(v.multiples.begin(), v.multiples.end());
  keys.read_list("granularity", sizes, multiple);
  if (sizes.size() == v.multiples.size())
    std::ranges::copy(sizes, v.multiples.begin());
  else
    keys.find("granularity")->error("expected the multiples of M, N and K, three numbers");
  keys.read("row_bytes", v.row_bytes, multiple);
}

// What both the file itself and each [[variant]] may say.
void read_launch(table_reader& keys, const std::vector<tensor_map>& maps, kernel_variant& v) {
  keys.read("summary", v.summary, experiment::text);
  keys.read("entry", v.entry, experiment::text);
  read_types(keys, v);
  const auto count = [](const value& size) { return expression_text(size, 1); };
  const auto bytes = [](const value& size) { return expression_text(size, 0); };
  const std::string one = "1";
  read_dim3(keys, "grid", one, v.grid, count);
  read_dim3(keys, "block", one, v.block, count);
  read_dim3(keys, "cluster", 1U, v.cluster, experiment::integer_in(1, 16));
  keys.read("shared", v.dynamic_shared, bytes);
  keys.read("workspace", v.workspace, bytes);
  read_granularity(keys, v);
  keys.read("compute_capability", v.compute_capability, experiment::integer_in(0, 999));
  keys.read("nondeterministic", v.nondeterministic, experiment::flag);
  if (keys.find("arguments")) {
    v.arguments.clear();
    keys.read_list("arguments", v.arguments,
                   [&](const value& text) { return read_argument(text, maps); });
  }
}

std::vector<tensor_map> read_maps(table_reader& file, input::diagnostics& report) {
  std::vector<tensor_map> maps;
  const auto found = file.find("tensor_map");
  if (!found) return maps;
  for (const value& element : found->elements()) {
    const auto* table = element.get<node_table>();
    if (table == nullptr) {
      element.expected("a table");
      continue;
    }
    table_reader keys(*table, "tensor_map", report, &file);
    tensor_map map;
    keys.read("name", map.name, experiment::text);
    const experiment::words<argument_kind> matrices{
        {"A", argument_kind::a}, {"B", argument_kind::b}, {"C", argument_kind::c}};
    keys.read("matrix", map.matrix, experiment::one_of(matrices));
    std::vector<std::uint32_t> box;
    keys.read_list("box", box, experiment::integer_in(1, 256));
    if (box.size() == map.box.size())
      std::ranges::copy(box, map.box.begin());
    else
      element.error("needs a box of two sizes: elements along memory, and across");
    keys.read("swizzle", map.swizzle, experiment::integer_in(0, 128));
    if (map.swizzle % 32 != 0 || map.swizzle == 96)
      element.error(fmt::format("swizzle is 0, 32, 64 or 128 bytes, not {}", map.swizzle));
    if (!is_map_name(map.name)) element.error("needs a name that no other argument has");
    for (const tensor_map& other : maps)
      if (other.name == map.name) element.error(fmt::format("'{}' is there twice", map.name));
    keys.finish();
    maps.push_back(std::move(map));
  }
  return maps;
}

void check_complete(const kernel_variant& v, const location& where, input::diagnostics& report) {
  const auto lacks = [&](const char* key, const char* means) {
    report.error(where, fmt::format("variant '{}' has no {}: {}", v.id, key, means));
  };
  if (v.entry.empty()) lacks("entry", "the name of its __global__ function in the file");
  if (v.grid == kernel_variant{}.grid && v.block == kernel_variant{}.block)
    lacks("grid and no block", "how many blocks of how many threads are launched");
  if (v.arguments.empty()) lacks("arguments", "what the kernel gets, parameter by parameter");
  if (v.id.size() > kLongestIdentifier || !is_identifier(v.id))
    report.error(where, fmt::format("{} is no id of a variant, which is made of 1 to {} letters, "
                                    "digits, '_', '.' and '-'; give it one with [[variant]] id = "
                                    "\"...\"",
                                    input::in_quotes(v.id), kLongestIdentifier));
}

}  // namespace

kernel_manifest read(const std::filesystem::path& file, std::string_view text) {
  input::diagnostics report(file.string(), text);
  const node_table document = experiment::parse_document(text, report);
  report.throw_if_any();

  table_reader keys(document, "", report);
  kernel_manifest m;
  m.id = file.stem().string();
  keys.read("kernel", m.kernel, experiment::text);
  if (m.kernel.empty())
    report.error(report.at(1, 1),
                 "it has no kernel = \"FILE\", the file that the compiled kernels are in; where it "
                 "is about a source, name that as the plugin");
  m.maps = read_maps(keys, report);
  kernel_variant common;
  read_launch(keys, m.maps, common);
  m.summary = common.summary;

  const auto variants = keys.find("variant");
  std::set<std::string> ids;
  for (const value& element : variants ? variants->elements() : std::vector<value>{}) {
    const auto* table = element.get<node_table>();
    if (table == nullptr) {
      element.expected("a table");
      continue;
    }
    table_reader inner(*table, "variant", report, &keys);
    kernel_variant v = common;
    read_launch(inner, m.maps, v);
    v.id = v.entry;
    inner.read("id", v.id, experiment::text);
    inner.finish();
    check_complete(v, element.content.where, report);
    if (!ids.insert(v.id).second) element.error(fmt::format("two variants are called '{}'", v.id));
    m.variants.push_back(std::move(v));
  }
  if (!variants) {
    common.id = common.entry;
    check_complete(common, report.at(1, 1), report);
    m.variants.push_back(std::move(common));
  }
  keys.finish();
  report.throw_if_any();
  return m;
}

}  // namespace kzoo::manifest
