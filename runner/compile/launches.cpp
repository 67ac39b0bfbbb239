#include "compile/launches.hpp"

#include "compile/edited_text.hpp"
#include "os/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

namespace kzoo::compile {
namespace {

// Those that kzoo::tensors has: they wait for nothing, and use the stream of the run.
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

// As they stand, without comments and in one line.
std::string joined(token_list all) {
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    text += all[i].text;
    if (i + 1 < all.size() && !touches(all, i)) text += ' ';
  }
  return text;
}

// Where the bracket that closes at `at` opens.
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

// Where the last operand of what ends at `at` begins: k, k<4>, table[i], (k), find(3).
std::size_t operand_begin(token_list all, std::size_t at) {
  if (is(all, at, ">") && at > 0) return opening(all, at, "<", ">") - 1;
  if (is(all, at, "]")) return operand_begin(all, opening(all, at, "[", "]") - 1);
  if (!is(all, at, ")")) return at;
  at = opening(all, at, "(", ")");
  const bool is_called = at > 0 && all[at - 1].kind == token_kind::word && !is_keyword(all[at - 1]);
  return is_called ? at - 1 : at;
}

// Where what is launched begins, which ends before `end`: name, ns::name<4, T>, table[i], p->k.
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
// Whose <<< is at `at`.
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
    std::size_t callee = 0;  // of the next launch, whose <<< is at `brackets`
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

}  // namespace kzoo::compile
