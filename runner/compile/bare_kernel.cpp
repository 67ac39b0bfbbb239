#include "compile/bare_kernel.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <vector>

namespace kzoo::compile {
namespace {

using manifest::argument;
using manifest::argument_kind;
using manifest::described_variant;

template <class List, class Write>
std::string joined(const List& list, const Write& write) {
  std::vector<std::string> texts;
  for (const auto& each : list) texts.push_back(write(each));
  return fmt::format("{}", fmt::join(texts, ", "));
}

// By kzoo_type.
constexpr std::array kCppTypes{
    "",       "float",       "__half",        "__nv_bfloat16", "int",
    "double", "signed char", "__nv_fp8_e4m3", "__nv_fp8_e5m2", "kzoo::int4x2"};
static_assert(kCppTypes.size() == KZOO_I4 + 1);
// By number_type; accumulators have that of C.
constexpr std::array kNumberTypes{"",      "int",   "long long", "__half", "__nv_bfloat16",
                                  "float", "double"};
// By argument_kind: also the functions of kzoo::bare_arguments that give them.
constexpr std::array kKinds{"a",     "b",    "c",     "workspace",  "null",
                            "alpha", "beta", "value", "tensor_map", "operand"};

template <class Names, class Value>
std::string name_in(const Names& names, Value value) {
  return names.at(static_cast<std::size_t>(value));
}

std::string cpp_types(const element_types& types) {
  const std::string a = name_in(kCppTypes, types.a), b = name_in(kCppTypes, types.b),
                    c = name_in(kCppTypes, types.c);
  return a == b && b == c ? a : fmt::format("kzoo::mixed<{}, {}, {}>", a, b, c);
}

// The argument as kzoo::bare_arguments gives it.
std::string passed(const argument& from, std::size_t index) {
  if (from.kind == argument_kind::operand) return fmt::format("x.operand({})", from.map);
  if (from.kind >= argument_kind::value) return fmt::format("x.integer({})", index);
  const std::string given = fmt::format("x.{}()", name_in(kKinds, from.kind));
  const bool is_scalar = from.kind == argument_kind::alpha || from.kind == argument_kind::beta;
  if (!is_scalar || from.type == manifest::number_type::accumulator) return given;
  return fmt::format("static_cast<{}>({})", name_in(kNumberTypes, from.type), given);
}

// The argument as the plan of the launch needs it.
std::string described(const argument& a) {
  const bool narrow = a.type == manifest::number_type::i32;
  return fmt::format(
      "{{kzoo::manifest::argument_kind::{}, kzoo::manifest::number_type::{}, {}, 0}}",
      name_in(kKinds, a.kind), narrow ? "i32" : "i64", literal(a.expression));
}

std::string described(const manifest::epilogue_stage& stage) {
  return fmt::format("{{{}u, {}, {}u, {}, {}}}", stage.kind, literal(stage.operand), stage.type,
                     stage.low, stage.high);
}

// Makes the compiler name the manifest's line for what follows.
std::string line_mark(const location& where) {
  return fmt::format("#line {} {}\n", where.line, literal(where.file));
}

std::string struct_name(std::size_t index) { return fmt::format("kzoo_description_{}", index); }

// What kzoo::bare_kernel is told of a variant, as members of a struct.
std::string members(const described_variant& d) {
  const manifest::kernel_variant& v = d.launch;
  const auto describe = [](const auto& each) { return described(each); };
  const auto expressions = [](const std::array<std::string, 3>& list) {
    return joined(list, literal);
  };
  std::string text = fmt::format(
      "  using types = kzoo::types<{}>;\n  using layouts = kzoo::layouts<{}>;\n"
      "  static constexpr kzoo::granularity granularity{{{}u, {}u, {}u, {}u}};\n"
      "  static constexpr unsigned compute_capability = {};\n"
      "  static constexpr bool nondeterministic = {};\n"
      "  static constexpr bool epilogues = {}, block_scales = {}, groups = {};\n",
      joined(d.types, cpp_types),
      joined(d.layouts, [](layout l) { return fmt::format("kzoo::layout::{}", layout_name(l)); }),
      v.multiples[0], v.multiples[1], v.multiples[2], v.row_bytes, v.compute_capability,
      v.nondeterministic, !v.epilogue.empty(), v.scale_block_a[0] + v.scale_block_b[0] > 0,
      v.groups);
  if (d.names_precision) {
    text += fmt::format("  static constexpr kzoo_precision precision = kzoo_precision({});\n",
                        static_cast<unsigned>(v.precision));
  }
  return text + fmt::format(
                    "  static kzoo::manifest::kernel_variant launch() {{\n"
                    "    kzoo::manifest::kernel_variant v;\n"
                    "    v.grid = {{{}}};\n    v.block = {{{}}};\n    v.cluster = {{{}, {}, {}}};\n"
                    "    v.dynamic_shared = {};\n    v.workspace = {};\n    v.reads_c = {};\n"
                    "    v.epilogue = {{{}}};\n    v.scale_block_a = {{{}u, {}u}};\n"
                    "    v.scale_block_b = {{{}u, {}u}};\n    v.groups = {};\n"
                    "    v.arguments = {{{}}};\n    return v;\n  }}\n",
                    expressions(v.grid), expressions(v.block), v.cluster[0], v.cluster[1],
                    v.cluster[2], literal(v.dynamic_shared), literal(v.workspace), v.reads_c,
                    joined(v.epilogue, describe), v.scale_block_a[0], v.scale_block_a[1],
                    v.scale_block_b[0], v.scale_block_b[1], v.groups,
                    joined(v.arguments, describe));
}

// As the manifest has it.
std::string argument_name(const argument& x) {
  constexpr std::array kMatricesAndScalars{"A", "B", "C", "workspace", "null", "alpha", "beta"};
  const auto kind = static_cast<std::size_t>(x.kind);
  return kind < kMatricesAndScalars.size() ? kMatricesAndScalars.at(kind) : x.expression;
}

// That the entry is a kernel, and takes the values that the manifest has for it: said on the
// manifest's own lines.
std::string checks(std::size_t index, const described_variant& d) {
  const std::string self = struct_name(index), type = cpp_types(d.types[0]);
  const std::string& name = d.launch.entry;
  const std::string entry = fmt::format("{}::entry<{}>", self, type);
  const std::size_t count = d.launch.arguments.size();
  std::string text =
      line_mark(d.entry_at) +
      fmt::format("static_assert(kzoo::is_bare_kernel({}), {});\n", entry,
                  literal(name + " is no __global__ function, which returns void")) +
      line_mark(d.arguments_at) +
      fmt::format(
          "static_assert(kzoo::parameter_count({}, {}) == {}, {});\n", entry, count, count,
          literal(fmt::format("{} has another number of parameters than the {} of arguments", name,
                              count)));
  for (std::size_t i = 0; i < count; ++i) {
    text +=
        line_mark(d.arguments_at) +
        fmt::format("static_assert(kzoo::takes_value<{}, {}::values<{}>>({}), {});\n", i, self,
                    type, entry,
                    literal(fmt::format("parameter {} of {} does not take {}", i + 1, name,
                                        argument_name(d.launch.arguments[i])))) +
        line_mark(d.arguments_at) +
        fmt::format(
            "static_assert(kzoo::passes<{}>({}), {});\n", i, entry,
            literal(fmt::format("parameter {} of {} is no pointer and no number", i + 1, name)));
  }
  return text;
}

// The values that the kernel gets, as a function of a kzoo::bare_arguments.
std::string argument_tuple(const std::vector<argument>& arguments) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i < arguments.size(); ++i) values.push_back(passed(arguments[i], i));
  return fmt::format(
      "  template <class Arguments>\n"
      "  static auto arguments([[maybe_unused]] const Arguments& x) {{\n"
      "    return std::make_tuple({});\n  }}\n"
      "  template <class T>\n"
      "  using values = decltype(arguments(std::declval<kzoo::bare_arguments<kzoo::gemm<T>>>()));\n",
      fmt::join(values, ", "));
}

// An argument of a function that takes tensors, by its name in a description.
std::string given_to_function(const std::string& argument) {
  if (argument == "A" || argument == "B" || argument == "C")
    return fmt::format("kzoo_{}", argument);
  return fmt::format("kzoo_x.{}",
                     argument.size() > 1
                         ? argument
                         : std::string(1, static_cast<char>(std::tolower(argument[0]))));
}

}  // namespace

std::string literal(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const bool is_control = static_cast<unsigned char>(c) < ' ' || c == '\x7f';
    if (is_control || c == '"' || c == '\\')
      result += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    else
      result += c;
  }
  return result + '"';
}

std::string plugin_text(const manifest::described_kernels& kernels,
                        const std::filesystem::path& source) {
  const std::string name = source.stem().string();
  std::string text =
      fmt::format("#include <kzoo/bare_kernel.hpp>\n#include \"{}\"\n\nnamespace {{\n",
                  source.filename().string());
  std::vector<std::string> table;
  for (std::size_t i = 0; i < kernels.variants.size(); ++i) {
    const described_variant& d = kernels.variants[i];
    const manifest::kernel_variant& v = d.launch;
    text += fmt::format("struct {} {{\n{}  template <class T>\n{}", struct_name(i), members(d),
                        line_mark(d.entry_at));
    text += fmt::format("  static constexpr auto entry = &{};\n", v.entry);
    text += line_mark({"the launch of " + name, 1, 0}) + argument_tuple(v.arguments) + "};\n";
    text += checks(i, d);
    table.push_back(fmt::format("kzoo::variant<kzoo::bare_kernel<{}>>({}, {})", struct_name(i),
                                literal(v.id), literal(v.summary.empty() ? v.entry : v.summary)));
  }
  const std::string summary = kernels.summary.empty() ? "a bare kernel" : kernels.summary;
  return text + fmt::format("}}  // namespace\n\nKZOO_PLUGIN({}, {},\n            {});\n",
                            literal(name), literal(summary), fmt::join(table, ",\n            "));
}

std::string plugin_text(const manifest::described_kernels& kernels, const tensor_function& function,
                        const std::filesystem::path& source) {
  const described_variant& d = kernels.variants.front();
  const std::string call =
      fmt::format("::{}({})", function.name, joined(function.arguments, given_to_function));
  const bool takes_c = std::ranges::count(function.arguments, "C") > 0;
  return fmt::format(
      "#include <kzoo/tensor_function.hpp>\n#include \"{}\"\n\nnamespace {{\nstruct {} {{\n{}"
      "  static constexpr bool takes_c = {};\n"
      "  static at::Tensor call([[maybe_unused]] const kzoo::tensors::product& kzoo_x,\n"
      "                         at::Tensor& kzoo_A, at::Tensor& kzoo_B,\n"
      "                         [[maybe_unused]] at::Tensor& kzoo_C) {{\n{}    {};\n  }}\n}};\n"
      "}}  // namespace\n\n"
      "KZOO_PLUGIN({}, {}, kzoo::variant<kzoo::tensor_function<{}>>({}, {}));\n",
      source.filename().string(), struct_name(0), members(d), takes_c, line_mark(d.entry_at),
      function.returns_tensor ? "return " + call : call + "; return kzoo_C",
      literal(source.stem().string()),
      literal(kernels.summary.empty() ? "started by a function that takes tensors"
                                      : kernels.summary),
      struct_name(0), literal(d.launch.id), literal(d.launch.entry));
}

std::string mark_text(const manifest::described_kernels& kernels) {
  std::string text;
  std::size_t number = 0;
  for (std::size_t i = 0; i < kernels.variants.size(); ++i)
    for (const element_types& types : kernels.variants[i].types) {
      const std::string entry = fmt::format("{}::entry<{}>", struct_name(i), cpp_types(types));
      text += fmt::format(
          "extern \"C\" __device__ const auto {}{} = {};\n"
          "extern \"C\" __device__ const auto {}{} = kzoo::types_of_parameters({});\n",
          kEntryMark, number, entry, kParametersMark, number, entry);
      ++number;
    }
  return text;
}

}  // namespace kzoo::compile
