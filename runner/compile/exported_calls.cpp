#include "compile/exported_calls.hpp"

#include "compile/bare_kernel.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
static_assert(kCTypes.size() == KZOO_I4 + 1);

std::string declaration(const std::string& name, const std::string& kind, const function& f) {
  const element_types& types = f.of.dtype;
  const std::string begin = fmt::format("const char* {}_{}(", name, kind);
  std::vector<std::string> lines{
      "int64_t m, int64_t n, int64_t k",
      fmt::format("double alpha, const {}* a, int64_t lda, const {}* b, int64_t ldb",
                  kCTypes.at(types.a), kCTypes.at(types.b)),
      fmt::format("double beta, {}* c, int64_t ldc", kCTypes.at(types.c))};
  if (is_scaled(types)) lines.emplace_back("double scale_a, double scale_b");
  if (f.has_batches)
    lines.emplace_back("int64_t batch, int64_t stride_a, int64_t stride_b, int64_t stride_c");
  lines.emplace_back("void* stream");
  return begin + fmt::format("{})", fmt::join(lines, ",\n" + std::string(begin.size(), ' ')));
}

// "A (m x k) is row-major, lda >= k".
std::string shape_text(const char* matrix, const char* ld, bool transposed, const char* rows,
                       const char* cols) {
  return transposed
             ? fmt::format("{} ({} x {}) is transposed in memory, {} x {} and row-major, {} >= {}",
                           matrix, rows, cols, cols, rows, ld, rows)
             : fmt::format("{} ({} x {}) is row-major, {} >= {}", matrix, rows, cols, ld, cols);
}

// "fp32", or "fp32, tf32" where its kernels differ.
std::string precisions_of(const function& f) {
  std::set<std::string> names;
  for (const exported_choice* c : f.choices) names.emplace(precision_name(c->precision));
  return fmt::format("{}", fmt::join(names, ", "));
}

// What a function does, as a comment.
std::string comment_of(const function& f, bool is_cuda) {
  std::string text = fmt::format(
      "/* C = alpha A B + beta C, {}, computed in {}.\n * {}.\n * {}.\n * {}.\n"
      " * With beta = 0, C is not read. {}\n",
      types_name(f.of.dtype), precisions_of(f),
      shape_text("A", "lda", is_a_transposed(f.of.layout), "m", "k"),
      shape_text("B", "ldb", is_b_transposed(f.of.layout), "k", "n"),
      shape_text("C", "ldc", false, "m", "n"),
      is_cuda ? "Enqueues the work on the stream, a cudaStream_t of the\n * current device, and "
                "does not wait for it."
              : "Returns when C is computed; `stream` is not used.");
  if (is_scaled(f.of.dtype))
    text += " * The elements of A and B are multiplied by the scales; 0 stands for 1.\n";
  if (f.has_batches) {
    text +=
        " * A batch: so many products, whose matrices start a stride, in elements, after those "
        "of the one\n * before. A stride_a or stride_b of 0: all have the matrix in common.\n";
  }
  return text +
         " * With m or n = 0 there is nothing to compute; k is at least 1.\n"
         " * Returns NULL, or a sentence that says why not, valid until this thread's next "
         "call. */\n";
}

std::string function_text(const exported_project& p, const std::string& kind, const function& f) {
  std::string text = fmt::format(
      "\n{} {{\n  // Never destroyed: other threads may call while the program ends.\n"
      "  static auto& kernels = *new kzoo::exported::table({{\n",
      declaration(p.name, kind, f));
  for (const exported_choice* c : f.choices) {
    text += fmt::format("      {{{}, {}, {}, {}, {}, {}, {}}},\n", c->problem.m, c->problem.n,
                        c->problem.k, c->problem.batch, exported_symbol(p, c->unit),
                        c->variant.empty() ? "nullptr" : literal(c->variant), literal(c->name));
  }
  const auto type = [](kzoo_type t) { return static_cast<unsigned>(t); };
  const auto layout = [](bool transposed) {
    return transposed ? "KZOO_COLUMN_MAJOR" : "KZOO_ROW_MAJOR";
  };
  text += fmt::format(
      "  }});\n  kzoo_problem p{{}};\n  p.m = m, p.n = n, p.k = k;\n"
      "  p.lda = lda, p.ldb = ldb, p.ldc = ldc;\n"
      "  p.type_a = {}, p.type_b = {}, p.type_c = {};  // {}\n  p.layout_a = {}, p.layout_b = {};\n"
      "  p.alpha = alpha, p.beta = beta;\n",
      type(f.of.dtype.a), type(f.of.dtype.b), type(f.of.dtype.c), types_name(f.of.dtype),
      layout(is_a_transposed(f.of.layout)), layout(is_b_transposed(f.of.layout)));
  if (is_scaled(f.of.dtype)) text += "  p.scale_a = scale_a, p.scale_b = scale_b;\n";
  if (f.has_batches) {
    text +=
        "  if (batch < 1) return \"the batch must be at least 1\";\n"
        "  p.batch = batch, p.stride_a = stride_a, p.stride_b = stride_b, p.stride_c = stride_c;\n";
  }
  return text + "  return kernels.run(p, a, b, c, stream);\n}\n";
}

}  // namespace

std::string exported_symbol(const exported_project& p, std::size_t unit) {
  return fmt::format("{}_kernel_{}", p.name, unit);
}

std::string exported_header(const exported_project& p, bool is_cuda) {
  std::string text = fmt::format(
      "/* The kernels of README.md. Any thread may call; calls of kernels of one plugin take "
      "turns. The\n"
      " * first call for a problem, with its alpha, beta and leading dimensions, prepares a kernel, "
      "which is\n * kept until the program ends. */\n"
      "#ifndef {0}_H\n#define {0}_H\n\n#include <stdint.h>\n\n"
      "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n",
      p.name);
  for (const auto& [kind, f] : functions_of(p))
    text += fmt::format("\n{}{};\n", comment_of(f, is_cuda), declaration(p.name, kind, f));
  return text + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

std::string exported_calls(const exported_project& p) {
  std::string text = fmt::format(
      "#include <kzoo/exported.hpp>\n\n#pragma GCC visibility push(default)\n\n"
      "#include \"{}.h\"\n\nextern \"C\" {{\n",
      p.name);
  for (std::size_t i = 0; i < p.units.size(); ++i)
    text += fmt::format("extern const kzoo_plugin {};  // {}\n", exported_symbol(p, i),
                        p.units[i].name);
  text += "}\n\n#pragma GCC visibility pop\n";
  for (const auto& [kind, f] : functions_of(p)) text += function_text(p, kind, f);
  return text;
}

std::vector<std::string> exported_functions(const exported_project& p) {
  std::vector<std::string> all;
  for (const auto& [kind, f] : functions_of(p)) all.push_back(declaration(p.name, kind, f));
  return all;
}

}  // namespace kzoo::compile
