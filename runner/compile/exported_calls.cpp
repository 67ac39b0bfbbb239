#include "compile/bare_kernel.hpp"
#include "compile/exported_project.hpp"
#include "os/text.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <map>
#include <regex>
#include <set>
#include <vector>

namespace kzoo::compile {
namespace {

std::string as_c_name(std::string text) {
  for (char& c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return text;
}

// "f16_f32_nt", for one combination of types and layouts.
std::string kind_of(const problem& p) {
  std::string types = types_name(p.dtype);
  types = std::regex_replace(types, std::regex("->"), "_");
  return fmt::format("{}_{}", as_c_name(types), layout_name(p.layout));
}

struct function {
  problem of;
  bool has_batches = false;
  std::vector<const exported_choice*> choices;
};

// By the kind of their problems.
std::map<std::string, function> functions_of(const exported_project& p) {
  std::map<std::string, function> all;
  for (const exported_choice& c : p.choices) {
    function& f = all.try_emplace(kind_of(c.problem), function{c.problem, false, {}}).first->second;
    f.has_batches = f.has_batches || c.problem.batch > 1;
    f.choices.push_back(&c);
  }
  return all;
}

// By kzoo_type. Void are those of 16 or 8 bits that C has no names for.
constexpr std::array kCTypes{"",       "float",  "void", "void", "int32_t",
                             "double", "int8_t", "void", "void", "void"};
// In C++ and in Python; "": PyTorch has no such elements.
constexpr std::array kTorchTypes{"",        "kFloat", "kHalf",          "kBFloat16",    "kInt",
                                 "kDouble", "kChar",  "kFloat8_e4m3fn", "kFloat8_e5m2", ""};
constexpr std::array kPythonTypes{"",        "float32", "float16",       "bfloat16",    "int32",
                                  "float64", "int8",    "float8_e4m3fn", "float8_e5m2", ""};
static_assert(kCTypes.size() == KZOO_I4 + 1 && kTorchTypes.size() == KZOO_I4 + 1 &&
              kPythonTypes.size() == KZOO_I4 + 1);

// "fp32", or "fp32, tf32" where its kernels differ.
std::string precisions_of(const function& f) {
  std::set<std::string> names;
  for (const exported_choice* c : f.choices) names.emplace(precision_name(c->precision));
  return joined(names, ", ");
}

std::vector<holes> holes_of(const std::vector<const exported_choice*>& choices,
                            const exported_project& p) {
  std::vector<holes> all;
  for (const exported_choice* c : choices) {
    const problem& of = c->problem;
    all.push_back({{{"sizes", fmt::format("{}, {}, {}, {}", of.m, of.n, of.k, of.batch)},
                    {"symbol", exported_symbol(p, c->unit)},
                    {"variant", c->variant.empty() ? "nullptr" : literal(c->variant)},
                    {"kernel", literal(c->name)}}});
  }
  return all;
}

holes holes_of(const std::string& kind, const function& f, const exported_project& p) {
  const element_types& types = f.of.dtype;
  const auto flag = [](bool set) { return set ? "yes" : ""; };
  const auto layout = [](bool transposed) {
    return transposed ? "KZOO_COLUMN_MAJOR" : "KZOO_ROW_MAJOR";
  };
  const bool a = is_a_transposed(f.of.layout), b = is_b_transposed(f.of.layout);
  const std::string begin = fmt::format("const char* {}_{}(", p.name, kind);
  holes all{{{"name", p.name},
             {"kind", kind},
             {"indent", std::string(begin.size(), ' ')},
             {"types", types_name(types)},
             {"precisions", precisions_of(f)},
             {"type_a", std::to_string(types.a)},
             {"type_b", std::to_string(types.b)},
             {"type_c", std::to_string(types.c)},
             {"c_type_a", kCTypes.at(types.a)},
             {"c_type_b", kCTypes.at(types.b)},
             {"c_type_c", kCTypes.at(types.c)},
             {"torch_a", kTorchTypes.at(types.a)},
             {"torch_b", kTorchTypes.at(types.b)},
             {"torch_c", kTorchTypes.at(types.c)},
             {"python_a", kPythonTypes.at(types.a)},
             {"python_b", kPythonTypes.at(types.b)},
             {"python_c", kPythonTypes.at(types.c)},
             {"of_torch", flag(*kTorchTypes.at(types.a) != 0 && *kTorchTypes.at(types.b) != 0)},
             {"along_a", a ? "1" : "0"},
             {"along_b", b ? "1" : "0"},
             {"layout_a", layout(a)},
             {"layout_b", layout(b)},
             {"a_transposed", flag(a)},
             {"b_transposed", flag(b)},
             {"scaled", flag(is_scaled(types))},
             {"batches", flag(f.has_batches)}},
            {{"choices", holes_of(f.choices, p)}}};
  all.texts["declaration"] = trimmed(filled("export/declaration", all));
  return all;
}

}  // namespace

std::string exported_symbol(const exported_project& p, std::size_t unit) {
  return fmt::format("{}_kernel_{}", p.name, unit);
}

std::vector<holes> exported_functions(const exported_project& p) {
  std::vector<holes> all;
  for (const auto& [kind, f] : functions_of(p)) all.push_back(holes_of(kind, f, p));
  return all;
}

}  // namespace kzoo::compile
