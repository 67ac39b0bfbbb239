#include "compile/hints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace kzoo::compile {
namespace {

// What nvcc takes and the simulator does not, and what to write instead.
struct construct {
  std::string_view text, advice;
};
constexpr std::array kNotSimulated{
    construct{"<<<",
              "a launch with <<<>>> needs nvcc; write kzoo::launch({.grid = grid, .block = "
              "block, .stream = stream}, kernel, arguments…), which both devices have"},
    construct{"extern __shared__",
              "`extern __shared__` is not there in the simulator; write T* "
              "tile = kzoo::dynamic_shared<T>()"},
    construct{"<mma.h>", "the simulator's nvcuda::wmma is in <kzoo/wmma.hpp>"},
    construct{"<cuda_pipeline.h>",
              "asynchronous copies that both devices have are in <kzoo/async_copy.hpp>"},
    construct{"<cuda/barrier>", "an mbarrier that both devices have is in <kzoo/mbarrier.hpp>"},
    construct{"asm",
              "inline PTX cannot be simulated: run it on a GPU (--device cuda), or compile it for "
              "one here (runner compile FILE -o DIR; DEVICES cuda in kzoo_add_plugin), or use the "
              "SDK's functions (<kzoo/mma.hpp>, <kzoo/async_copy.hpp>), which are simulated"},
};

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Whether the line has the text as a word of its own, outside a // comment.
bool has_word(std::string_view line, std::string_view text) {
  line = line.substr(0, line.find("//"));
  const std::size_t at = line.find(text);
  if (at == std::string_view::npos) return false;
  const std::size_t after = at + text.size();
  const bool is_word = is_word_character(text.back());
  const bool begins = !is_word || at == 0 || !is_word_character(line[at - 1]);
  const bool ends = !is_word || after == line.size() || !is_word_character(line[after]);
  return begins && ends;
}

// The first line, from 1, with the construct, of those that the compiler objects to; 0: none. What
// is wrong in `asm` is said by the assembler, in lines of its own.
unsigned line_with(std::string_view source, std::string_view text, std::string_view output) {
  const bool by_assembler =
      text == "asm" && (has(output, "Assembler messages") || has(output, "asm"));
  for (unsigned number = 1; !source.empty(); ++number) {
    const std::size_t end = std::min(source.find('\n'), source.size());
    const std::string_view line = source.substr(0, end);
    source.remove_prefix(std::min(end + 1, source.size()));
    if (has_word(line, text) && (by_assembler || has(output, fmt::format(":{}:", number)) ||
                                 has(output, fmt::format(":{},", number))))  // included from there
      return number;
  }
  return 0;
}

}  // namespace

std::string hints(std::string_view device, std::string_view file, std::string_view source,
                  std::string_view compiler_output) {
  std::string text;
  if (device == "cuda") {
    const bool of_hopper = has(compiler_output, "wgmma") || has(compiler_output, "setmaxnreg") ||
                           has(compiler_output, "sm_90a");
    if (of_hopper && has(compiler_output, "not supported")) {
      text += fmt::format(
          "{}: note: wgmma and setmaxnreg are instructions of sm_90a alone; say so with `// kzoo: "
          "arch=90a` in the first lines, or with ARCH 90a-real in kzoo_add_plugin\n",
          file);
    }
    return text;
  }
  for (const std::string_view name : {"cuda", "cublas"}) {
    const bool is_named = has(compiler_output, fmt::format("‘{}", name)) ||
                          has(compiler_output, fmt::format("'{}", name));  // by locale
    if (!is_named || !has(compiler_output, "was not declared in this scope")) continue;
    text += fmt::format(
        "{}: note: {}… functions are not there in the simulator, and a plugin seldom needs them: the "
        "runner allocates, copies and compares (docs/porting.md)\n",
        file, name);
  }
  for (const construct& c : kNotSimulated) {
    if (const unsigned line = line_with(source, c.text, compiler_output); line > 0)
      text += fmt::format("{}:{}: note: {} (docs/porting.md)\n", file, line, c.advice);
  }
  return text;
}

}  // namespace kzoo::compile
