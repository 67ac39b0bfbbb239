#include "compile/hints.hpp"

#include "os/text.hpp"

#include <fmt/format.h>

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

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Whether the line has the text, a word as a whole, outside a // comment.
bool uses(std::string_view line, std::string_view text) {
  line = line.substr(0, line.find("//"));
  return is_in_word(text.back()) ? has_word(line, text) : has(line, text);
}

// The first line, from 1, with the construct, of those that the compiler objects to; 0: none. What
// is wrong in `asm` is said by the assembler, in lines of its own.
unsigned line_with(std::string_view source, std::string_view text, std::string_view output) {
  const bool by_assembler =
      text == "asm" && (has(output, "Assembler messages") || has(output, "asm"));
  unsigned number = 0;
  for (const std::string& line : lines_of(source)) {
    ++number;
    if (uses(line, text) && (by_assembler || has(output, fmt::format(":{}:", number)) ||
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
