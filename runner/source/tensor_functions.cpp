#include "source/tensor_functions.hpp"

#include "os/text.hpp"
#include "source/items.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

namespace kzoo::source {
namespace {

bool is_tensor(const token& t) { return t.text == "Tensor" || t.text == "TensorView"; }

std::size_t index_of(token_list all, std::string_view text) {
  return static_cast<std::size_t>(std::ranges::find(all, text, &token::text) - all.begin());
}

// Splits the list at commas outside brackets.
std::vector<token_list> divided(token_list list) {
  std::vector<token_list> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t at = 0; at < list.size(); ++at) {
    const std::string_view text = list[at].text;
    if (text == "(" || text == "<" || text == "{" || text == "[") ++depth;
    if (text == ")" || text == ">" || text == "}" || text == "]") --depth;
    if (text != "," || depth != 0) continue;
    parts.push_back(list.subspan(begin, at - begin));
    begin = at + 1;
  }
  if (begin < list.size()) parts.push_back(list.subspan(begin));
  return parts;
}

struct parameter {
  std::string_view name;
  bool is_tensor = false, has_default = false;
};
parameter parameter_of(token_list all) {
  const auto equals = std::ranges::find(all, "=", &token::text);
  const token_list head(all.begin(), equals);
  parameter p{"", false, equals != all.end()};
  if (head.empty() || head.back().kind != token_kind::word) return p;
  p.name = head.back().text;
  const bool is_in_template = std::ranges::count(head, "<", &token::text) > 0;
  p.is_tensor = !is_in_template && std::ranges::any_of(head.first(head.size() - 1), is_tensor);
  return p;
}

// Whether it names an operand of an epilogue.
bool is_operand(std::string_view name) { return name == "bias" || name == "residual"; }

bool is_matrix(const parameter& p) { return p.is_tensor && !p.has_default && !is_operand(p.name); }

bool is_name_of_c(std::string_view name) {
  constexpr std::array<std::string_view, 6> kNames{"c", "C", "out", "output", "result", "D"};
  return std::ranges::count(kNames, name) > 0;
}

// The argument for a parameter that is no tensor, if its name says it.
std::optional<std::string> scalar_called(std::string_view name) {
  constexpr std::array<std::string_view, 3> kSizes{"M", "N", "K"};
  if (name == "alpha" || name == "beta") return std::string(name);
  std::string upper(name);
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
  return std::ranges::count(kSizes, upper) > 0 ? std::optional(upper) : std::nullopt;
}

// An argument in a description, by the parameter of the kernel; "…": its name does not say it.
std::string suggested_argument(token_list parameter) {
  const auto ends = [](const token& t) { return t.text == "=" || t.text == "["; };
  const token_list head(parameter.begin(), std::ranges::find_if(parameter, ends));
  if (head.empty() || head.back().kind != token_kind::word) return "…";
  std::string_view name = head.back().text;
  const bool is_pointer = std::ranges::count(head, "*", &token::text) == 1;
  if (!is_pointer) {
    const auto scalar = scalar_called(name);
    const bool is_ld = name.size() == 3 && name.starts_with("ld");
    return scalar ? *scalar : is_ld ? std::string(name) : "…";
  }
  if (is_name_of_c(name)) return "C";
  for (const std::string_view before : {"d_", "dev_", "d"})
    if (name.starts_with(before) && name.size() == before.size() + 1)
      name.remove_prefix(before.size());
  constexpr std::string_view kMatrices = "ABCabc";
  const bool is_matrix = name.size() == 1 && kMatrices.find(name[0]) != std::string_view::npos;
  return is_matrix ? std::string(1, static_cast<char>(std::toupper(name[0]))) : "…";
}

// The parenthesis before the parameters of the item, or its end.
std::size_t parameters_of_kernel(token_list item) {
  std::size_t at = index_of(item, "__global__");
  while (at < item.size() && item[at].text != "(") {
    const bool is_attribute = item[at].text.starts_with("__");
    at = is_attribute && at + 1 < item.size() && item[at + 1].text == "("
             ? end_of_group(item, at + 1).value_or(item.size())
             : at + 1;
  }
  return at;
}

// A, B and C in the order of the tensors: C is the one that is called so, or the last of a function
// that returns none.
std::vector<std::string> matrices(const std::vector<parameter>& tensors, tensor_function& f) {
  std::vector<std::string> all{"A", "B"};
  if (tensors.size() < 3) return all;
  const auto named = std::ranges::find_if(tensors, is_name_of_c, &parameter::name);
  if (named == tensors.end() && f.returns_tensor) {
    f.flaw = fmt::format(
        "its third tensor is called {}, and a product has one beside A and B, which is called c or "
        "out",
        tensors[2].name);
  }
  all.insert(named == tensors.end() ? all.end() : all.begin() + (named - tensors.begin()), "C");
  return all;
}

void give_arguments(const std::vector<parameter>& parameters, tensor_function& f) {
  std::vector<parameter> tensors;
  std::ranges::copy_if(parameters, std::back_inserter(tensors), is_matrix);
  const std::vector<std::string> in_order = matrices(tensors, f);
  std::size_t next = 0;
  for (const parameter& p : parameters) {
    if (p.has_default) break;  // as have those behind it
    const std::optional<std::string> given = is_matrix(p)  ? in_order[next++]
                                             : p.is_tensor ? std::string(p.name)
                                                           : scalar_called(p.name);
    if (!given) {
      f.flaw = fmt::format(
          "its parameter {} is no tensor, has no default value, and is called none of M, N, K, "
          "alpha and beta",
          p.name);
    }
    f.arguments.push_back(given.value_or(""));
  }
}

// If the item is such a function with a body.
std::optional<tensor_function> function_in(token_list item) {
  const std::size_t open = index_of(item, "(");
  if (open < 2 || item.back().text != "}" || item[0].text == "template") return std::nullopt;
  const std::size_t at = open - 1;
  const bool is_reference = item[at - 1].text == "&";
  if (item[at].kind != token_kind::word || (is_reference && at < 2)) return std::nullopt;
  const token& type = item[at - (is_reference ? 2 : 1)];
  if (!is_tensor(type) && type.text != "void") return std::nullopt;

  const std::size_t end = end_of_group(item, open).value_or(item.size());
  if (end == item.size()) return std::nullopt;  // they do not close
  tensor_function f{std::string(item[at].text), 0, is_tensor(type)};
  std::vector<parameter> parameters;
  for (const token_list each : divided(item.subspan(open + 1, end - open - 2)))
    parameters.push_back(parameter_of(each));
  const auto tensors = std::ranges::count_if(parameters, is_matrix);
  if (tensors > 3 || tensors < (f.returns_tensor ? 2 : 3)) return std::nullopt;
  give_arguments(parameters, f);
  return f;
}

// "gemm::" where the token stands in that namespace.
std::string namespaces_at(const std::vector<token>& file, std::size_t end) {
  std::vector<std::string_view> open;  // each open bracket's namespace; empty: no namespace
  for (std::size_t at = 0, head = 0; at < end; ++at) {
    const std::string_view text = file[at].text;
    if (text == ";" || text == "}" || file[at].kind == token_kind::directive) head = at + 1;
    if (text == "}" && !open.empty()) open.pop_back();
    if (text != "{") continue;
    if (head < at && file[head].text == "inline") ++head;
    const bool has_name = file[head].text == "namespace" && head + 1 < at;
    // The name as written: a::b.
    const char* const begin = has_name ? file[head + 1].text.data() : nullptr;
    open.push_back(has_name ? trimmed({begin, static_cast<std::size_t>(text.data() - begin)}) : "");
    head = at + 1;
  }
  std::string all;
  for (const std::string_view name : open)
    if (!name.empty()) all += fmt::format("{}::", name);
  return all;
}

// The cast before `tensor.data_ptr()` in its argument, if it has one.
token_list cast_before(token_list all, std::size_t at) {
  constexpr std::size_t kMost = 12;  // reinterpret_cast<const half*>(a.
  std::size_t begin = at;
  while (begin > 0 && at - begin < kMost && all[begin - 1].text != "," &&
         all[begin - 1].text != ";")
    --begin;
  return all.subspan(begin, at - begin);
}

bool is_binding(const token& t) {
  return t.text.starts_with("PYBIND11_MODULE") || t.text.starts_with("TORCH_LIBRARY") ||
         t.text.starts_with("TVM_FFI_DLL_EXPORT");
}

}  // namespace

std::vector<tensor_function> tensor_functions_in(std::string_view source) {
  const std::vector<token> file = tokens_of(source);
  const auto is_namespace = [](const token& t) {
    return t.text == "torch" || t.text == "at" || t.text == "tvm";
  };
  if (std::ranges::none_of(file, is_tensor) || std::ranges::none_of(file, is_namespace)) return {};
  std::vector<tensor_function> all;
  std::set<std::string_view> named;
  for (const source_item& each : items_in(file, macros_in(file)).all) {
    const token_list item = token_list(file).subspan(each.first, each.last - each.first);
    if (is_binding(item.front()))
      for (const token& t : item) named.insert(t.text);
    auto found = function_in(item);
    if (!found) continue;
    found->line =
        1 + static_cast<unsigned>(std::count(source.data(), item.front().text.data(), '\n'));
    all.push_back(std::move(*found));
    all.back().name.insert(0, namespaces_at(file, each.first));
  }
  for (tensor_function& f : all)
    f.is_bound = named.contains(std::string_view(f.name).substr(f.name.rfind(':') + 1));
  return all;
}

std::vector<std::string> suggested_descriptions(std::string_view source) {
  const std::vector<token> file = tokens_of(source);
  std::vector<std::string> all;
  for (const source_item& each : items_in(file, macros_in(file)).all) {
    const token_list item = token_list(file).subspan(each.first, each.last - each.first);
    const std::size_t open = parameters_of_kernel(item);
    if (open >= item.size() || item[open - 1].kind != token_kind::word) continue;
    const std::size_t end = end_of_group(item, open).value_or(item.size());
    if (item.back().text != "}") continue;  // it is declared
    std::vector<std::string> arguments;
    for (const token_list parameter : divided(item.subspan(open + 1, end - open - 2)))
      arguments.push_back(suggested_argument(parameter));
    all.push_back(fmt::format("entry={}{} arguments={}", item[open - 1].text,
                              item[0].text == "template" ? "<…>" : "", fmt::join(arguments, ",")));
  }
  return all;
}

std::vector<element_types> types_of_tensors(std::string_view code) {
  struct element_name {
    std::string_view text;
    kzoo_type type;
  };
  constexpr std::array kNames{
      element_name{"float", KZOO_F32},          element_name{"double", KZOO_F64},
      element_name{"Half", KZOO_F16},           element_name{"__half", KZOO_F16},
      element_name{"half", KZOO_F16},           element_name{"kHalf", KZOO_F16},
      element_name{"BFloat16", KZOO_BF16},      element_name{"kBFloat16", KZOO_BF16},
      element_name{"__nv_bfloat16", KZOO_BF16}, element_name{"nv_bfloat16", KZOO_BF16}};
  const std::vector<token> all = tokens_of(code);
  std::set<kzoo_type> asked, dispatched;
  const auto add_named = [&](token_list list, std::set<kzoo_type>& to) {
    for (const token& t : list) {
      const auto known = std::ranges::find(kNames, t.text, &element_name::text);
      if (known != kNames.end()) to.insert(known->type);
    }
  };
  for (std::size_t at = 0; at + 1 < all.size(); ++at) {
    const token_list rest = token_list(all).subspan(at + 1);
    if (all[at].text.ends_with("data_ptr"))
      add_named(rest[0].text == "<" ? rest.first(index_of(rest, ">")) : cast_before(all, at),
                asked);
    if (!all[at].text.starts_with("AT_DISPATCH_")) continue;
    if (has_part(all[at].text, "REDUCED"))
      dispatched.insert({KZOO_F16, KZOO_BF16});
    else if (has_part(all[at].text, "FLOATING"))
      dispatched.insert(KZOO_F32);
    if (all[at].text.ends_with("HALF")) dispatched.insert(KZOO_F16);
    add_named(rest.first(index_of(rest, "[")), dispatched);  // before a lambda
  }
  std::vector<element_types> types;
  for (const kzoo_type t : dispatched) types.push_back({t, t, t});
  if (!types.empty()) return types;
  const bool sums_in_f32 = asked.size() == 2 && asked.contains(KZOO_F32);
  if (asked.size() == 1) return {{*asked.begin(), *asked.begin(), *asked.begin()}};
  if (sums_in_f32 && !asked.contains(KZOO_F64)) {
    asked.erase(KZOO_F32);
    return {{*asked.begin(), *asked.begin(), KZOO_F32}};
  }
  return {{KZOO_F32, KZOO_F32, KZOO_F32}};
}

namespace {

// Functions of kzoo::tensors: they wait for nothing, and use the stream of the run.
constexpr std::array<std::string_view, 14> kRuntime{"cudaDeviceSynchronize",
                                                    "cudaStreamSynchronize",
                                                    "cudaGetLastError",
                                                    "cudaPeekAtLastError",
                                                    "cudaGetErrorString",
                                                    "cudaGetErrorName",
                                                    "cudaFuncSetAttribute",
                                                    "cudaMemset",
                                                    "cudaMemsetAsync",
                                                    "cudaMemcpyAsync",
                                                    "cudaMemcpy",
                                                    "cudaLaunchKernel",
                                                    "cudaLaunchCooperativeKernel",
                                                    "cudaLaunchKernelEx"};

bool is(token_list all, std::size_t at, std::string_view text) {
  return at < all.size() && all[at].text == text;
}

bool touches(token_list all, std::size_t at) {
  return all[at].text.data() + all[at].text.size() == all[at + 1].text.data();
}

// <<<, >>> or ::
bool is_run_of(std::string_view symbol, std::size_t count, token_list all, std::size_t at) {
  for (std::size_t i = 0; i < count; ++i)
    if (!is(all, at + i, symbol) || (i > 0 && !touches(all, at + i - 1))) return false;
  return true;
}

// The tokens as written, in one line and without comments.
std::string joined(token_list all) {
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    text += all[i].text;
    if (i + 1 < all.size() && !touches(all, i)) text += ' ';
  }
  return text;
}

// The position where the bracket that closes at `at` opens.
std::size_t opening(token_list all, std::size_t at, std::string_view open, std::string_view close) {
  int depth = 0;
  for (;; --at) {
    if (open == "<" && is(all, at, ")"))
      at = opening(all, at, "(", ")");
    else
      depth += is(all, at, close) ? 1 : is(all, at, open) ? -1 : 0;
    if (depth == 0 || at == 0) return at;
  }
}

bool is_keyword(const token& t) {
  constexpr std::array<std::string_view, 4> kBefore{"else", "return", "do", "case"};
  return std::ranges::count(kBefore, t.text) > 0;
}

// The beginning of the operand that ends at `at`: k, k<4>, table[i], (k), find(3).
std::size_t operand_begin(token_list all, std::size_t at) {
  if (is(all, at, ">") && at > 0) return opening(all, at, "<", ">") - 1;
  if (is(all, at, "]")) return operand_begin(all, opening(all, at, "[", "]") - 1);
  if (!is(all, at, ")")) return at;
  at = opening(all, at, "(", ")");
  const bool is_called = at > 0 && all[at - 1].kind == token_kind::word && !is_keyword(all[at - 1]);
  return is_called ? at - 1 : at;
}

// The beginning of the launched expression that ends before `end`: name, ns::name<4, T>, table[i],
// p->k.
std::size_t callee_begin(token_list all, std::size_t end) {
  for (std::size_t at = end - 1;;) {
    at = operand_begin(all, at);
    const std::size_t before = at;
    if (before > 1 && is(all, before - 1, ".")) {
      at -= 2;
    } else if (before > 2 && is(all, before - 2, "-") && is(all, before - 1, ">") &&
               touches(all, before - 2)) {
      at -= 3;
    } else if (before > 1 && is_run_of(":", 2, all, before - 2)) {
      const bool is_qualified =
          before > 2 && !is_keyword(all[before - 3]) &&
          (all[before - 3].kind == token_kind::word || is(all, before - 3, ">"));
      if (!is_qualified) return before - 2;
      at -= 3;
    } else {
      return before;
    }
  }
}

struct launch {
  std::size_t callee, config, config_end, arguments;  // tokens; arguments: the parenthesis
};
std::optional<launch> launch_at(token_list all, std::size_t at) {
  if (at == 0 || !is_run_of("<", 3, all, at)) return std::nullopt;
  for (std::size_t end = at + 3; end + 3 < all.size(); ++end) {
    if (is(all, end, "(")) end = end_of_group(all, end).value_or(all.size()) - 1;
    if (is(all, end, ";")) break;
    if (is_run_of(">", 3, all, end) && is(all, end + 3, "("))
      return launch{callee_begin(all, at), at + 3, end, end + 3};
  }
  return std::nullopt;
}

class launch_writer {
 public:
  launch_writer(std::string_view source, bool simulated) : text_(source), simulated_(simulated) {}

  // `line_end`: of the lines of a macro, or of others.
  void write(token_list all, std::string_view line_end) {
    std::size_t callee = 0;  // the next launch's kernel; its <<< is at `brackets`
    for (std::size_t at = 0, brackets = 0; at < all.size(); ++at) {
      if (all[at].kind == token_kind::directive) {
        write_macro(all[at]);
        continue;
      }
      if (at >= brackets) {
        brackets = next_launch(all, at);
        callee = brackets < all.size() ? callee_begin(all, brackets) : all.size();
      }
      if (at == callee) {
        at = write_launch(all, *launch_at(all, brackets), line_end);
        brackets = 0;
      } else if (is_of_runtime(all, at)) {
        text_.replace(text_.begin_of(all[at]), text_.begin_of(all[at]), "::kzoo::tensors::");
      } else if (simulated_ && line_end == "\n") {
        at = replace_dynamic_shared(all, at, text_);
      }
    }
  }

  std::string text() const { return text_.text(); }

 private:
  static std::size_t next_launch(token_list all, std::size_t from) {
    while (from < all.size() && !launch_at(all, from)) ++from;
    return from;
  }

  static bool is_of_runtime(token_list all, std::size_t at) {
    return std::ranges::count(kRuntime, all[at].text) > 0 && (at == 0 || !is(all, at - 1, ":"));
  }

  void write_macro(const token& directive) {
    const std::string_view rest = directive.text.substr(1);
    if (trimmed(rest).starts_with("define")) write(tokens_of(rest), "\\\n");
  }

  // Returns the parenthesis before the arguments.
  std::size_t write_launch(token_list all, const launch& l, std::string_view line_end) {
    const std::string by = fmt::format(
        "::kzoo::tensors::launch(::kzoo::tensors::config_of({}), [&](const auto& kzoo_launch, "
        "auto&&... kzoo_argument) KZOO_LAUNCHED({}){}",
        joined(all.subspan(l.config, l.config_end - l.config)),
        joined(all.subspan(l.callee, l.config - 3 - l.callee)),
        is(all, l.arguments + 1, ")") ? "" : ", ");
    text_.replace(text_.begin_of(all[l.callee]), text_.end_of(all[l.arguments]), by, line_end);
    return l.arguments;
  }

  edited_text text_;
  bool simulated_;
};

}  // namespace

std::string with_launches_called(std::string_view source, bool simulated) {
  launch_writer writer(source, simulated);
  writer.write(tokens_of(source), "\n");
  return writer.text();
}

}  // namespace kzoo::source
