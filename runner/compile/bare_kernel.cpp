#include "compile/bare_kernel.hpp"

#include "core/identifier.hpp"
#include "core/problem.hpp"
#include "experiment/names.hpp"

#include <kzoo/manifest/expression.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace kzoo::compile {
namespace {

// As kzoo/bare_kernel.hpp has them.
constexpr std::array<std::string_view, 6> kNames{"M", "N", "K", "lda", "ldb", "ldc"};
constexpr std::array<std::string_view, 5> kOperands{"A", "B", "C", "alpha", "beta"};

bool is_operand(std::string_view text) { return std::ranges::count(kOperands, text) > 0; }

std::optional<placed_text> placed_word(const experiment::value& v) {
  if (const auto* number = v.get<std::int64_t>())
    return placed_text{std::to_string(*number), v.content.where};
  const auto text = experiment::text(v);
  return text ? std::optional(placed_text{*text, v.content.where}) : std::nullopt;
}

std::optional<placed_text> expression(const experiment::value& v) {
  auto text = placed_word(v);
  if (!text) return text;
  try {
    manifest::expression::parse(text->text, kNames);
    return text;
  } catch (const manifest::expression_fault& fault) {
    v.error(fault.what());
    return std::nullopt;
  }
}

std::optional<placed_text> argument(const experiment::value& v) {
  const auto* text = v.get<std::string>();
  return text && is_operand(*text) ? placed_word(v) : expression(v);
}

// A name in C++: what could end the line that it is put into is none.
std::optional<placed_text> entry(const experiment::value& v) {
  auto text = placed_word(v);
  const auto is_of_name = [](char c) {
    return is_identifier({&c, 1}, ":<>, ()") && c != '.' && c != '-';
  };
  if (text && !text->text.empty() && std::ranges::all_of(text->text, is_of_name)) return text;
  if (text) v.expected("the name of a __global__ function, such as sgemm or sgemm<64, 64>");
  return std::nullopt;
}

bool are_types(std::string_view text) { return types_from_name(text).has_value(); }
bool is_layout(std::string_view text) { return experiment::find_layout(text).has_value(); }

void check_count(const char* key, const std::vector<placed_text>& list, std::size_t most,
                 input::diagnostics& report) {
  if (list.size() <= most) return;
  report.error(list[most].where,
               fmt::format("{}: at most {} extents, found {}", key, most, list.size()));
}

std::string cpp_type(kzoo_type type) {
  switch (type) {
    case KZOO_F32:
      return "float";
    case KZOO_F64:
      return "double";
    case KZOO_F16:
      return "__half";
    case KZOO_BF16:
      return "__nv_bfloat16";
    case KZOO_I32:
      return "int";
    case KZOO_I8:
      return "signed char";
    case KZOO_E4M3:
      return "__nv_fp8_e4m3";
    default:
      return "__nv_fp8_e5m2";
  }
}

std::string cpp_types(const std::string& name) {
  const element_types types = types_from_name(name).value();
  const std::string a = cpp_type(types.a), b = cpp_type(types.b), c = cpp_type(types.c);
  return a == b && b == c ? a : fmt::format("kzoo::mixed<{}, {}, {}>", a, b, c);
}

// Whether an argument or an extent uses the name.
bool uses(const bare_kernel& k, std::string_view name) {
  const auto has = [&](const placed_text& t) {
    if (is_operand(t.text) || is_operand(name)) return t.text == name;
    const auto index = static_cast<std::size_t>(std::ranges::find(kNames, name) - kNames.begin());
    return manifest::expression::parse(t.text, kNames).uses(index);
  };
  return std::ranges::any_of(k.arguments, has) ||
         (!is_operand(name) && (std::ranges::any_of(k.grid, has) || has(k.shared)));
}

std::string quoted(const std::vector<placed_text>& list, std::size_t at_least) {
  std::vector<std::string> texts;
  for (const placed_text& t : list) texts.push_back(fmt::format("\"{}\"", t.text));
  while (texts.size() < at_least) texts.emplace_back("\"1\"");
  return fmt::format("{}", fmt::join(texts, ", "));
}

// A variant's id: sgemm<64, 64> is sgemm_64_64.
std::string id_from(const std::string& entry) {
  std::string id;
  for (const char c : entry) {
    if (is_identifier({&c, 1})) {
      id += c;
    } else if (!id.empty() && id.back() != '_') {
      id += '_';
    }
  }
  while (id.ends_with('_')) id.pop_back();
  return id.substr(0, kLongestIdentifier);
}

// Makes the compiler name the manifest's line for what follows.
std::string line_mark(const location& where) {
  return fmt::format("#line {} \"{}\"\n", where.line, where.file);
}

}  // namespace

bare_kernel read_bare_kernel(experiment::table_reader& keys, const location& file,
                             input::diagnostics& report) {
  bare_kernel k;
  keys.read("entry", k.entry, entry);
  keys.read_list("grid", k.grid, expression);
  keys.read_list("block", k.block, expression);
  keys.read("shared", k.shared, expression);
  keys.read_list("arguments", k.arguments, argument);
  keys.read_list(
      "types", k.types,
      experiment::text_such_that(are_types, "element types such as \"f32\" or \"f16->f32\""));
  keys.read_list("layouts", k.layouts,
                 experiment::text_such_that(is_layout, experiment::kLayoutForm));
  constexpr int kLargest = 1 << 20;
  keys.read_list("granularity", k.granularity, experiment::integer_in(1, kLargest));
  keys.read("row_bytes", k.row_bytes, experiment::integer_in(1, kLargest));
  keys.read("compute_capability", k.compute_capability, experiment::integer_in(0, 999));
  keys.read("reads_c", k.reads_c, experiment::flag);
  keys.read("nondeterministic", k.nondeterministic, experiment::flag);
  if (report.any()) return k;
  for (const char* key : {"entry", "grid", "block", "arguments"}) {
    if (!keys.find(key))
      report.error(file, fmt::format("a bare kernel's manifest needs {} (docs/plugins.md)", key));
  }
  check_count("grid", k.grid, 3, report);
  check_count("block", k.block, 3, report);
  if (k.granularity.size() != 3) {
    report.error(keys.find("granularity")->content.where,
                 "granularity: expected the multiples of M, N and K, three numbers");
  }
  return k;
}

std::string plugin_text(const bare_kernel& k, const std::string& name, const std::string& source) {
  std::vector<std::string> types, layouts, values;
  for (const std::string& t : k.types) types.push_back(cpp_types(t));
  for (const std::string& l : k.layouts) layouts.push_back("kzoo::layout::" + l);
  std::vector<placed_text> integers;
  for (const placed_text& a : k.arguments) {
    if (!is_operand(a.text)) {
      values.push_back(fmt::format("x.integer({})", integers.size()));
      integers.push_back(a);
    } else {
      std::string member = a.text;
      if (member.size() == 1) member[0] = static_cast<char>(member[0] - 'A' + 'a');
      values.push_back("x." + member + "()");
    }
  }
  std::string text = fmt::format(
      "#include <kzoo/bare_kernel.hpp>\n#include \"{}\"\n\nnamespace {{\nstruct kzoo_description {{\n"
      "  using types = kzoo::types<{}>;\n  using layouts = kzoo::layouts<{}>;\n"
      "  static constexpr kzoo::granularity granularity{{{}u, {}u, {}u, {}u}};\n"
      "  static constexpr unsigned compute_capability = {};\n"
      "  static constexpr bool nondeterministic = {}, reads_c = {};\n",
      source, fmt::join(types, ", "), fmt::join(layouts, ", "), k.granularity[0], k.granularity[1],
      k.granularity[2], k.row_bytes, k.compute_capability, k.nondeterministic, k.reads_c);
  for (const char* each : {"lda", "ldb", "ldc", "alpha", "beta"})
    text += fmt::format("  static constexpr bool takes_{} = {};\n", each, uses(k, each));
  text += fmt::format(
      "  static constexpr const char* grid_text[3] = {{{}}};\n"
      "  static constexpr const char* block_text[3] = {{{}}};\n"
      "  static constexpr const char* shared_text = \"{}\";\n"
      "  static constexpr std::array<const char*, {}> integers{{{}}};\n",
      quoted(k.grid, 3), quoted(k.block, 3), k.shared.text, integers.size(), quoted(integers, 0));
  text += "  template <class T>\n" + line_mark(k.entry.where) +
          fmt::format("  static constexpr auto entry = &{};\n", k.entry.text);
  const auto lines = static_cast<unsigned>(std::ranges::count(text, '\n'));
  text += line_mark({"the launch of " + name, lines + 2, 0});
  text += fmt::format(
      "  template <class Arguments>\n"
      "  static auto arguments(const Arguments& x) {{\n    return std::make_tuple({});\n  }}\n}};\n"
      "}}  // namespace\n\n"
      "KZOO_PLUGIN(\"{}\", \"a bare kernel\",\n"
      "            kzoo::variant<kzoo::bare_kernel<kzoo_description>>(\"{}\", \"{}\"));\n",
      fmt::join(values, ", "), name, id_from(k.entry.text), k.entry.text);
  return text;
}

}  // namespace kzoo::compile
