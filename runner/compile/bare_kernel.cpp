#include "compile/bare_kernel.hpp"

#include "core/kernel_name.hpp"
#include "input/diagnostics.hpp"
#include "os/assets.hpp"
#include "os/text.hpp"

#include <fmt/format.h>

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

// C++ types, indexed by kzoo_type.
constexpr std::array kCppTypes{
    "",       "float",       "__half",        "__nv_bfloat16", "int",
    "double", "signed char", "__nv_fp8_e4m3", "__nv_fp8_e5m2", "kzoo::int4x2"};
static_assert(kCppTypes.size() == KZOO_I4 + 1);
// C++ types, indexed by number_type; "" for accumulators, whose type depends on C.
constexpr std::array kNumberTypes{"",      "int",   "long long", "__half", "__nv_bfloat16",
                                  "float", "double"};
// Names by argument_kind; functions of kzoo::bare_arguments have the same names.
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

// The C++ expression by which kzoo::bare_arguments gives the argument's value.
std::string argument_value(const argument& from, std::size_t index) {
  if (from.kind == argument_kind::operand) return fmt::format("x.operand({})", from.map);
  if (from.kind >= argument_kind::value) return fmt::format("x.integer({})", index);
  const std::string given = fmt::format("x.{}()", name_in(kKinds, from.kind));
  const bool is_scalar = from.kind == argument_kind::alpha || from.kind == argument_kind::beta;
  if (!is_scalar || from.type == manifest::number_type::accumulator) return given;
  return fmt::format("static_cast<{}>({})", name_in(kNumberTypes, from.type), given);
}

// The C++ initializer of the argument's description, for the launch plan.
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
  return fmt::format("#line {} {}", where.line, literal(where.file));
}

std::string struct_name(std::size_t index) { return fmt::format("kzoo_description_{}", index); }

// Values for kzoo::bare_kernel's template.
holes variant_holes(std::size_t index, const described_variant& d) {
  const manifest::kernel_variant& v = d.launch;
  const auto describe = [](const auto& each) { return described(each); };
  const auto number = [](auto each) { return fmt::format("{}u", each); };
  const auto text = [](const auto& value) { return fmt::format("{}", value); };
  return {{{"struct", struct_name(index)},
           {"entry", v.entry},
           {"entry_line", line_mark(d.entry_at)},
           {"id", literal(v.id)},
           {"types", joined(d.types, ", ", cpp_types)},
           {"layouts",
            joined(d.layouts, ", ",
                   [](layout l) { return fmt::format("kzoo::layout::{}", layout_name(l)); })},
           {"granularity", joined(v.multiples, ", ", number) + ", " + number(v.row_bytes)},
           {"compute_capability", text(v.compute_capability)},
           {"nondeterministic", text(v.nondeterministic)},
           {"epilogues", text(!v.epilogue.empty())},
           {"block_scales", text(v.scale_block_a[0] + v.scale_block_b[0] > 0)},
           {"groups", text(v.groups)},
           {"precision", d.names_precision ? text(static_cast<unsigned>(v.precision)) : ""},
           {"grid", joined(v.grid, ", ", literal)},
           {"block", joined(v.block, ", ", literal)},
           {"cluster", joined(v.cluster, ", ", text)},
           {"dynamic_shared", literal(v.dynamic_shared)},
           {"workspace", literal(v.workspace)},
           {"reads_c", text(v.reads_c)},
           {"epilogue", joined(v.epilogue, ", ", describe)},
           {"scale_block_a", joined(v.scale_block_a, ", ", number)},
           {"scale_block_b", joined(v.scale_block_b, ", ", number)},
           {"arguments", joined(v.arguments, ", ", describe)}}};
}

// The argument as a manifest writes it.
std::string argument_name(const argument& x) {
  constexpr std::array kMatricesAndScalars{"A", "B", "C", "workspace", "null", "alpha", "beta"};
  const auto kind = static_cast<std::size_t>(x.kind);
  return kind < kMatricesAndScalars.size() ? kMatricesAndScalars.at(kind) : x.expression;
}

// Values for a launched variant. The manifest's lines say that its entry is a kernel and takes the
// manifest's values.
holes launched_variant_holes(std::size_t index, const described_variant& d,
                             const std::string& plugin) {
  const std::string& name = d.launch.entry;
  const std::vector<argument>& arguments = d.launch.arguments;
  holes all = variant_holes(index, d);
  std::vector<std::string> values;  // as functions of a kzoo::bare_arguments
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    values.push_back(argument_value(arguments[i], i));
    const std::string takes_no = fmt::format("parameter {} of {} does not take {}", i + 1, name,
                                             argument_name(arguments[i]));
    const std::string is_no =
        fmt::format("parameter {} of {} is no pointer and no number", i + 1, name);
    all.lists["parameters"].push_back({{{"number", std::to_string(i)},
                                        {"no_value", literal(takes_no)},
                                        {"no_number", literal(is_no)}}});
  }
  all.texts.merge(decltype(all.texts){
      {"type", cpp_types(d.types[0])},
      {"launch_line", line_mark({"the launch of " + plugin, 1, 0})},
      {"arguments_line", line_mark(d.arguments_at)},
      {"values", joined(values, ", ")},
      {"count", std::to_string(arguments.size())},
      {"about", literal(d.launch.summary.empty() ? name : d.launch.summary)},
      {"no_kernel", literal(name + " is no __global__ function, which returns void")},
      {"other_count", literal(fmt::format("{} has another number of parameters than the {} of "
                                          "arguments",
                                          name, arguments.size()))}});
  return all;
}

// An argument of a function that takes tensors, by its name in a description.
std::string given_to_function(const std::string& argument) {
  if (argument == "A" || argument == "B" || argument == "C")
    return fmt::format("kzoo_{}", argument);
  if (argument == "bias" || argument == "residual")
    return fmt::format("kzoo_x.operand({})", literal(argument));
  return fmt::format("kzoo_x.{}",
                     argument.size() > 1
                         ? argument
                         : std::string(1, static_cast<char>(std::tolower(argument[0]))));
}

using manifest::number_type;

// A kernel in the machine code: its symbol and its parameters' types.
struct compiled_entry {
  std::string name;
  std::vector<number_type> parameters;
};

// The marks in PTX:
//
//   .global .align 8 .u64 kzoo_entry_0 = _Z5sgemmPf;
//   .global .align 1 .b8 kzoo_parameters_0[2] = {1};
class mark_reader {
 public:
  mark_reader(std::string_view ptx, const std::filesystem::path& source)
      : ptx_(ptx), source_(source.string()) {}

  // Reads kernel `number`, which must have so many `parameters`.
  compiled_entry read(std::size_t number, std::size_t parameters) const {
    const std::string name(between(fmt::format("{}{} = ", kEntryMark, number)));
    if (!is_identifier(name, "$%")) refuse(name);
    const auto list = between(fmt::format("{}{}[", kParametersMark, number));
    const std::vector<number_type> types = numbers_in(list);
    if (types.size() != parameters) refuse(list);
    return {name, types};
  }

 private:
  // The text up to a semicolon.
  std::string_view between(const std::string& begin) const {
    const auto at = ptx_.find(begin);
    if (at == std::string_view::npos) refuse(begin);
    const std::string_view rest = ptx_.substr(at + begin.size());
    return rest.substr(0, rest.find(';'));
  }

  // "3] = {6, 1}": PTX leaves out zeros at the end.
  std::vector<number_type> numbers_in(std::string_view text) const {
    std::vector<number_type> types;
    const auto brace = text.find('{');
    if (brace == std::string_view::npos) return types;
    std::string_view rest = text.substr(brace + 1);
    for (rest = rest.substr(0, rest.find('}')); !rest.empty();) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      const auto number = number_from<int>(trimmed(rest.substr(0, comma)));
      if (!number || *number < 1 || *number > static_cast<int>(number_type::i16) + 1) refuse(text);
      types.push_back(static_cast<number_type>(*number - 1));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    return types;
  }

  [[noreturn]] void refuse(std::string_view what) const {
    input::refuse(source_,
                  "the compiled kernels are not what is expected at {}: its options, or its "
                  "macros, change what is compiled",
                  input::in_quotes(what));
  }

  std::string_view ptx_;
  std::string source_;
};

bool is_number(const argument& given) {
  using enum manifest::argument_kind;
  return given.kind == alpha || given.kind == beta || given.kind == value;
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
  holes all{{{"source", source.filename().string()},
             {"name", literal(name)},
             {"summary", literal(kernels.summary.empty() ? "a bare kernel" : kernels.summary)}}};
  for (const described_variant& d : kernels.variants) {
    auto& variants = all.lists["variants"];
    variants.push_back(launched_variant_holes(variants.size(), d, name));
  }
  return filled("plugin/bare_kernel.cpp", all);
}

std::string plugin_text(const manifest::described_kernels& kernels,
                        const source::tensor_function& function,
                        const std::filesystem::path& source) {
  const std::string call =
      fmt::format("::{}({})", function.name, joined(function.arguments, ", ", given_to_function));
  const bool takes_c = std::ranges::count(function.arguments, "C") > 0;
  holes all = variant_holes(0, kernels.variants.front());
  all.texts.merge(decltype(all.texts){
      {"source", source.filename().string()},
      {"takes_c", fmt::format("{}", takes_c)},
      {"call", function.returns_tensor ? "return " + call : call + "; return kzoo_C"},
      {"name", literal(source.stem().string())},
      {"about", literal(kernels.variants.front().launch.entry)},
      {"summary", literal(kernels.summary.empty() ? "started by a function that takes tensors"
                                                  : kernels.summary)}});
  return filled("plugin/tensor_function.cpp", all);
}

std::string mark_text(const manifest::described_kernels& kernels) {
  holes all{{{"entry_mark", kEntryMark}, {"parameters_mark", kParametersMark}}};
  auto& marked = all.lists["kernels"];
  for (std::size_t i = 0; i < kernels.variants.size(); ++i)
    for (const element_types& types : kernels.variants[i].types)
      marked.push_back(
          {{{"number", std::to_string(marked.size())},
            {"entry", fmt::format("{}::entry<{}>", struct_name(i), cpp_types(types))}}});
  return filled("plugin/marks.cpp", all);
}

manifest::kernel_manifest launches_of(const manifest::described_kernels& kernels,
                                      std::string_view ptx, const std::filesystem::path& source) {
  const mark_reader marks(ptx, source);
  manifest::kernel_manifest m;
  m.id = source.stem().string();
  m.summary = kernels.summary.empty() ? "a bare kernel" : kernels.summary;
  m.kernel = source.filename().string();
  std::size_t number = 0;
  for (const manifest::described_variant& d : kernels.variants)
    for (const element_types& types : d.types) {
      manifest::kernel_variant v = d.launch;
      const compiled_entry compiled = marks.read(number++, v.arguments.size());
      if (v.summary.empty()) v.summary = v.entry;
      v.entry = compiled.name;
      v.type_a = types.a;
      v.type_b = types.b;
      v.type_c = types.c;
      if (!d.names_precision) v.precision = usual_precision(types.a);
      for (std::size_t i = 0; i < v.arguments.size(); ++i)
        if (is_number(v.arguments[i])) v.arguments[i].type = compiled.parameters[i];
      for (const layout each : d.layouts) {
        v.layout = each;
        m.variants.push_back(v);
      }
    }
  return m;
}

}  // namespace kzoo::compile
