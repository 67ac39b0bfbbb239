#include "manifest/variants.hpp"

#include "core/kernel_name.hpp"
#include "core/operands.hpp"
#include "experiment/names.hpp"
#include "experiment/problems.hpp"
#include "os/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <kzoo/manifest/expression.hpp>
#include <kzoo/type_names.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <ranges>
#include <set>
#include <string_view>
#include <utility>

namespace kzoo::manifest {

namespace {

using experiment::value;

constexpr std::array<std::pair<std::string_view, argument_kind>, 7> kWords{{
    {"A", argument_kind::a},
    {"B", argument_kind::b},
    {"C", argument_kind::c},
    {"workspace", argument_kind::workspace},
    {"null", argument_kind::null},
    {"alpha", argument_kind::alpha},
    {"beta", argument_kind::beta},
}};

constexpr std::array<std::pair<std::string_view, number_type>, 6> kTypes{{
    {"i32", number_type::i32},
    {"i64", number_type::i64},
    {"f16", number_type::f16},
    {"bf16", number_type::bf16},
    {"f32", number_type::f32},
    {"f64", number_type::f64},
}};

bool is_scalar(argument_kind kind) {
  return kind == argument_kind::alpha || kind == argument_kind::beta;
}

// Cuts ":TYPE" off the text's end and sets `type`. Returns false for an unknown type.
bool take_type(std::string_view& text, std::optional<number_type>& type) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return true;
  const auto known = std::ranges::find(kTypes, trimmed(text.substr(colon + 1)),
                                       [](const auto& t) { return t.first; });
  if (known == kTypes.end()) return false;
  type = known->second;
  text = trimmed(text.substr(0, colon));
  return true;
}

std::string map_names(const std::vector<tensor_map>& maps) {
  std::string names;
  for (const tensor_map& map : maps) names += ", " + map.name;
  return names;
}

// Whether the text names an operand of an epilogue's stage or of the GEMM.
bool is_operand(std::string_view text) {
  if (std::ranges::find(kOperandsOfProduct, text) != kOperandsOfProduct.end()) return true;
  return std::ranges::any_of(kAllOf<stage_kind>, [&](stage_kind kind) {
    return has_operand(kind) && name_of(kind) == text;
  });
}

// The expression if it is valid and, without variables, from `least` to `most`.
std::optional<std::string> checked(const value& v, std::string_view text, std::int64_t least,
                                   std::int64_t most) {
  try {
    const expression parsed = expression::parse(text, kVariables);
    for (std::size_t i = 0; i < kVariables.size(); ++i)
      if (parsed.uses(i)) return std::string(text);
    const std::int64_t result = parsed.evaluate(std::array<std::int64_t, kVariables.size()>{});
    if (result >= least && result <= most) return std::string(text);
    const std::string number = fmt::format("{}", result);
    v.error("{}{}, not {} to {}", text == number ? "" : fmt::format("{} is ", text), number, least,
            most);
  } catch (const expression_fault& fault) {
    v.error(printable(fault.what()));
  }
  return {};
}

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// An expression or a number. Without variables it is checked here, else for each problem.
std::optional<std::string> expression_text(const value& v, std::int64_t least, std::int64_t most) {
  if (const auto* number = v.get<std::int64_t>())
    return checked(v, fmt::format("{}", *number), least, most);
  if (const auto* text = v.get<std::string>()) return checked(v, *text, least, most);
  v.expected(fmt::format("an integer or an expression of {}", fmt::join(kVariables, ", ")));
  return {};
}

// "A", "B", "C", "workspace", "null", "alpha:f32", "beta", a tensor map, an operand of the
// epilogue, or an expression: "ceil_div(K, 64):i64". `usual`: the default type of expressions.
std::optional<argument> read_argument(const value& v, const std::vector<tensor_map>& maps,
                                      number_type usual) {
  argument result;
  std::optional<number_type> type;
  std::string number;
  std::string_view text;
  if (const auto* integer = v.get<std::int64_t>())
    text = number = fmt::format("{}", *integer);
  else if (const auto* string = v.get<std::string>())
    text = trimmed(*string);
  else {
    v.expected("an argument such as \"A\", \"M\", \"alpha\" or \"ceil_div(K, 64):i64\"");
    return {};
  }
  if (!take_type(text, type)) {
    v.error("{} ends in no type: i32, i64, f16, bf16, f32 or f64 may follow a ':'",
            input::in_quotes(text));
    return {};
  }

  const auto word = std::ranges::find(kWords, text, [](const auto& w) { return w.first; });
  const auto map = std::ranges::find(maps, text, &tensor_map::name);
  if (word != kWords.end()) {
    result.kind = word->second;
  } else if (map != maps.end()) {
    result.kind = argument_kind::tensor_map;
    result.map = static_cast<std::size_t>(map - maps.begin());
  } else if (is_operand(text)) {
    result.kind = argument_kind::operand;
    result.expression = text;
  } else if (is_c_name(text) && std::ranges::find(kVariables, text) == kVariables.end()) {
    v.error("unknown name {} (known: {}, {}{}, and expressions of the sizes)",
            input::in_quotes(text, '\''), fmt::join(kWords | std::views::keys, ", "),
            fmt::join(kVariables, ", "), map_names(maps));
    return {};
  } else {
    result.kind = argument_kind::value;
    result.type = type.value_or(usual);
    if (result.type != number_type::i32 && result.type != number_type::i64) {
      v.error("{} is an integer, i32 or i64", input::in_quotes(text));
      return {};
    }
    const bool narrow = result.type == number_type::i32;
    const auto expression =
        checked(v, text, narrow ? std::numeric_limits<std::int32_t>::min() : -kMost,
                narrow ? std::numeric_limits<std::int32_t>::max() : kMost);
    if (!expression) return {};
    result.expression = *expression;
    return result;
  }
  if (is_scalar(result.kind)) {
    result.type = type.value_or(number_type::accumulator);
  } else if (type) {
    v.error("{} is a pointer or a tensor map, which has no type", input::in_quotes(text));
    return {};
  }
  return result;
}

// Whether a tensor map may have this name: no other argument may use it.
bool is_map_name(std::string_view name) {
  return is_identifier(name) && !is_operand(name) &&
         std::ranges::none_of(kWords, [&](const auto& word) { return word.first == name; }) &&
         std::ranges::find(kVariables, name) == kVariables.end();
}

using experiment::node_table;
using experiment::table_reader;

constexpr std::int64_t kMost32 = std::numeric_limits<std::int32_t>::max();

// Up to three sizes, as in dim3; missing sizes are `one`.
template <class T, class Read>
void read_dim3(table_reader& keys, const char* key, const T& one, std::array<T, 3>& out,
               const Read& read_size) {
  const auto found = keys.find(key);
  if (!found) return;
  std::vector<T> sizes;
  keys.read_list(key, sizes, read_size);
  if (sizes.size() > out.size())
    return found->error("has {} dimensions; there are x, y and z", sizes.size());
  sizes.resize(out.size(), one);
  std::ranges::copy(sizes, out.begin());
}

std::vector<epilogue_stage> stages_of(const stage_list& epilogue) {
  std::vector<epilogue_stage> stages;
  for (const kzoo::epilogue_stage& stage : epilogue) {
    stages.push_back({stage_kind_of(stage.kind), "", stage.type, stage.low, stage.high});
    if (has_operand(stage.kind)) stages.back().operand = name_of(stage.kind);
  }
  return stages;
}

// Reads the keys that the file and each [[variant]] may have.
class variant_reader {
 public:
  variant_reader(kernel_origin origin, const std::vector<tensor_map>& maps)
      : is_source_(origin == kernel_origin::source), maps_(maps) {}

  // Keys that describe the product, not the launch.
  void read_product(table_reader& keys, described_variant& v) const {
    kernel_variant& launch = v.launch;
    keys.read("summary", launch.summary, experiment::text);
    read_kinds(keys, v);
    read_granularity(keys, launch);
    keys.read("compute_capability", launch.compute_capability, experiment::integer_in(0, 999));
    keys.read("reads_c", launch.reads_c, experiment::flag);
    keys.read("nondeterministic", launch.nondeterministic, experiment::flag);
    stage_list epilogue;
    keys.read("epilogue", epilogue, experiment::read_epilogue);
    if (keys.find("epilogue")) launch.epilogue = stages_of(epilogue);
  }

  void read(table_reader& keys, described_variant& v) const {
    kernel_variant& launch = v.launch;
    read_product(keys, v);
    if (const auto found = keys.find("entry")) {
      v.entry_at = found->content.where;
      keys.read("entry", launch.entry, [&](const value& name) { return entry(name); });
    }
    const auto from = [](std::int64_t least, std::int64_t most) {
      return [=](const value& size) { return expression_text(size, least, most); };
    };
    const std::string one = "1";
    constexpr std::int64_t kMostThreads = 1024;
    read_dim3(keys, "grid", one, launch.grid, from(1, kMost32));
    read_dim3(keys, "block", one, launch.block, from(1, kMostThreads));
    read_dim3(keys, "cluster", 1U, launch.cluster, experiment::integer_in(1, 16));
    keys.read("shared", launch.dynamic_shared, from(0, kMost32));
    keys.read("workspace", launch.workspace, from(0, std::numeric_limits<std::int64_t>::max()));
    const number_type usual = is_source_ ? number_type::i64 : number_type::i32;
    read_block(keys, "scale_block_a", launch.scale_block_a);
    read_block(keys, "scale_block_b", launch.scale_block_b);
    keys.read("groups", launch.groups, experiment::flag);
    if (const auto found = keys.find("arguments")) {
      v.arguments_at = found->content.where;
      launch.arguments.clear();
      keys.read_list("arguments", launch.arguments,
                     [&](const value& text) { return read_argument(text, maps_, usual); });
    }
  }

 private:
  // A C++ name that cannot end the line into which it is written, or a name in machine code.
  std::optional<std::string> entry(const value& v) const {
    const auto name = experiment::text(v);
    const char* const others = is_source_ ? ":<>, ()" : ":<>, ()*&$%";
    if (!name || (is_identifier(*name, others) && name->find_first_of(".-") == std::string::npos))
      return name;
    v.expected(is_source_ ? "the name of a __global__ function, such as sgemm or sgemm<64, 64>"
                          : "the name of a kernel in the file, such as sgemm or sgemm<64, 64>");
    return std::nullopt;
  }

  static void read_block(table_reader& keys, const char* key, std::array<std::uint32_t, 2>& block) {
    scale_block read{};
    keys.read(key, read, experiment::read_scale_block);
    if (keys.find(key))
      block = {static_cast<std::uint32_t>(read.extent), static_cast<std::uint32_t>(read.depth)};
  }

  template <class T>
  void read_some(table_reader& keys, const char* key, const experiment::read_as<T>& read_one,
                 std::vector<T>& out) const {
    keys.read_list(key, out, read_one);
    if (!is_source_ && out.size() > 1)
      keys.find(key)->error("a compiled kernel has one; give the others in [[variant]] tables");
  }

  void read_kinds(table_reader& keys, described_variant& v) const {
    read_some(keys, "types", experiment::one_of(kElementTypes, types_name), v.types);
    if (keys.find("types") && !v.types.empty()) v.launch.precision = usual_precision(v.types[0].a);
    keys.read("precision", v.launch.precision, experiment::one_of(kPrecisions, precision_name));
    v.names_precision = v.names_precision || keys.find("precision");
    read_some(keys, "layouts", experiment::one_of(kLayouts, layout_name), v.layouts);
    if (v.types.empty() || v.layouts.empty()) return;  // already reported
    v.launch.type_a = v.types[0].a;
    v.launch.type_b = v.types[0].b;
    v.launch.type_c = v.types[0].c;
    v.launch.layout = v.layouts[0];
  }

  static void read_granularity(table_reader& keys, kernel_variant& v) {
    const auto multiple = experiment::integer_in(1, 1 << 20);
    std::vector<std::uint32_t> sizes(v.multiples.begin(), v.multiples.end());
    keys.read_list("granularity", sizes, multiple);
    if (sizes.size() == v.multiples.size())
      std::ranges::copy(sizes, v.multiples.begin());
    else
      keys.find("granularity")->error("expected the multiples of M, N and K, three numbers");
    keys.read("row_bytes", v.row_bytes, multiple);
  }

  bool is_source_;
  const std::vector<tensor_map>& maps_;
};

std::vector<tensor_map> read_maps(table_reader& file, kernel_origin origin,
                                  input::diagnostics& report) {
  std::vector<tensor_map> maps;
  const auto found = file.find("tensor_map");
  if (!found) return maps;
  if (origin == kernel_origin::source) {
    found->error(
        "tensor maps are made for compiled kernels; a plugin's source makes its own with "
        "<kzoo/tma.hpp>");
    return maps;
  }
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
      element.error("swizzle is 0, 32, 64 or 128 bytes, not {}", map.swizzle);
    if (!is_map_name(map.name)) element.error("needs a name that no other argument has");
    for (const tensor_map& other : maps)
      if (other.name == map.name) element.error("'{}' is there twice", map.name);
    keys.finish();
    maps.push_back(std::move(map));
  }
  return maps;
}

// sgemm<64, 64> and _Z5sgemmILi64ELi64EEvPf give sgemm_64_64.
std::string id_from(const std::string& entry) {
  constexpr std::size_t kLongest = 40;
  std::string id;
  for (const char c : short_kernel_name(demangled(entry))) {
    if (is_identifier({&c, 1}))
      id += c;
    else if (!id.empty() && id.back() != '_')
      id += '_';
  }
  id = id.substr(0, kLongest);
  while (id.ends_with('_')) id.pop_back();
  return id;
}

bool has(table_reader& inner, table_reader& outer, const char* key) {
  return inner.find(key) || outer.find(key);
}

// Finds the operands among the arguments, once all keys have been read.
void find_operands(described_variant& v, input::diagnostics& report) {
  const auto& [scale_a, scale_b, offsets] = kOperandsOfProduct;
  std::vector<std::string> names;
  if (v.launch.scale_block_a[0] > 0) names.emplace_back(scale_a);
  if (v.launch.scale_block_b[0] > 0) names.emplace_back(scale_b);
  if (v.launch.groups) names.emplace_back(offsets);
  for (const epilogue_stage& stage : v.launch.epilogue)
    if (!stage.operand.empty()) names.push_back(stage.operand);
  for (argument& a : v.launch.arguments) {
    if (a.kind != argument_kind::operand) continue;
    a.map = static_cast<std::size_t>(std::ranges::find(names, a.expression) - names.begin());
    if (a.map < names.size()) continue;
    const std::string by =
        a.expression == scale_a   ? "scale_block_a = \"1x128\""
        : a.expression == scale_b ? "scale_block_b = \"128x128\""
        : a.expression == offsets
            ? "groups = true"
            : fmt::format("epilogue = \"{}\", or one with more stages", a.expression);
    report.error(v.arguments_at, "arguments: a kernel has '{}' by {}", a.expression, by);
  }
}

void check_complete(table_reader& keys, table_reader& outer, const std::string& id,
                    const location& where, input::diagnostics& report) {
  constexpr std::array<std::pair<const char*, const char*>, 4> kNeeded{{
      {"entry", "the name of its __global__ function"},
      {"grid", "how many blocks are launched"},
      {"block", "how many threads a block has"},
      {"arguments", "what the kernel gets, parameter by parameter"},
  }};
  const std::string who = id.empty() ? "a kernel" : fmt::format("variant '{}'", id);
  for (const auto& [key, means] : kNeeded) {
    if (!has(keys, outer, key)) report.error(where, "{} has no {}: {}", who, key, means);
  }
}

// The variant's id: its kernel's name by default.
std::string read_id(table_reader& keys, const std::string& entry) {
  std::string id = id_from(entry);
  const auto is_id = [](std::string_view text) {
    return text.size() <= kLongestIdentifier && is_identifier(text);
  };
  keys.read("id", id,
            experiment::text_such_that(
                is_id, "1 to 100 letters, digits, '_', '.' and '-', which make an id"));
  return id;
}

}  // namespace

described_kernels read_started(table_reader& keys, described_variant known,
                               input::diagnostics& report) {
  described_kernels all;
  all.maps = read_maps(keys, kernel_origin::source, report);
  variant_reader(kernel_origin::source, all.maps).read_product(keys, known);
  all.summary = known.launch.summary;
  known.launch.id = id_from(known.launch.entry);
  all.variants.push_back(std::move(known));
  return all;
}

described_kernels read_variants(table_reader& keys, kernel_origin origin, const location& top,
                                input::diagnostics& report) {
  described_kernels all;
  all.maps = read_maps(keys, origin, report);
  const variant_reader reader(origin, all.maps);
  described_variant common;
  common.types = {{KZOO_F32, KZOO_F32, KZOO_F32}};
  common.layouts = {layout::nn};
  reader.read(keys, common);
  all.summary = common.launch.summary;

  const auto variants = keys.find("variant");
  if (!variants) {
    common.launch.id = id_from(common.launch.entry);
    check_complete(keys, keys, common.launch.id, top, report);
    find_operands(common, report);
    all.variants.push_back(std::move(common));
    return all;
  }
  std::set<std::string> ids;
  for (const value& element : variants->elements()) {
    const auto* table = element.get<node_table>();
    if (table == nullptr) {
      element.expected("a table");
      continue;
    }
    table_reader inner(*table, "variant", report, &keys);
    described_variant v = common;
    reader.read(inner, v);
    v.launch.id = read_id(inner, v.launch.entry);
    inner.finish();
    check_complete(inner, keys, v.launch.id, element.content.where, report);
    find_operands(v, report);
    if (!v.launch.id.empty() && !ids.insert(v.launch.id).second) {
      element.error("two variants are called '{}'; give each an id of its own", v.launch.id);
    }
    all.variants.push_back(std::move(v));
  }
  return all;
}

}  // namespace kzoo::manifest
