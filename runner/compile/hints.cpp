#include "compile/hints.hpp"

#include "os/text.hpp"

#include <fmt/format.h>

#include <array>
#include <regex>

namespace kzoo::compile {
namespace {

// What nvcc takes and the simulator does not, and what to write instead.
struct construct {
  std::string_view text, advice;
};
constexpr std::string_view kCutlass =
    "CUTLASS's headers are inline PTX, which cannot be simulated; wgmma, TMA and mbarriers that both "
    "devices have are in <kzoo/wgmma.hpp>, <kzoo/tma.hpp> and <kzoo/mbarrier.hpp>";
constexpr std::array kNotSimulated{
    construct{"<<<",
              "a launch with <<<>>> needs nvcc; write kzoo::launch({.grid = grid, .block = "
              "block, .stream = stream}, kernel, arguments…), which both devices have"},
    construct{"extern __shared__",
              "`extern __shared__` is not there in the simulator; write T* "
              "tile = kzoo::dynamic_shared<T>()"},
    construct{"<cuda_pipeline.h>",
              "asynchronous copies that both devices have are in <kzoo/async_copy.hpp>"},
    construct{"<cuda/",
              "libcu++ is not there in the simulator: run the kernel on a GPU (--device cuda), or "
              "compile it for one here (runner compile FILE -o DIR); <kzoo/mbarrier.hpp> has an "
              "mbarrier, <kzoo/async_copy.hpp> copies that both devices have"},
    construct{"<cute/", kCutlass},
    construct{"<cutlass/", kCutlass},
    construct{"asm",
              "inline PTX cannot be simulated: run it on a GPU (--device cuda), or compile it for "
              "one here (runner compile FILE -o DIR; DEVICES cuda in kzoo_add_plugin), or use the "
              "SDK's functions (<kzoo/mma.hpp>, <kzoo/wgmma.hpp>, <kzoo/tma.hpp>, "
              "<kzoo/mbarrier.hpp>, …), which are simulated"},
};

// Whether the line has the text, a word as a whole, outside a // comment.
bool uses(std::string_view line, std::string_view text) {
  line = line.substr(0, line.find("//"));
  return is_in_word(text.back()) ? has_word(line, text) : has_part(line, text);
}

// The first line, from 1, with the construct, of those that the compiler objects to; 0: none. What
// is wrong in `asm` is said by the assembler, in lines of its own.
unsigned line_with(std::string_view source, std::string_view text, std::string_view output) {
  const bool by_assembler =
      text == "asm" && (has_part(output, "Assembler messages") || has_part(output, "asm"));
  unsigned number = 0;
  for (const std::string& line : lines_of(source)) {
    ++number;
    if (uses(line, text) && (by_assembler || has_part(output, fmt::format(":{}:", number)) ||
                             has_part(output, fmt::format(":{},", number))))  // included from there
      return number;
  }
  return 0;
}

// std::regex recurses for each character of a name, so that a long one would overflow the stack.
std::string in_short_lines(std::string_view output) {
  constexpr std::size_t kLongest = 4000;
  std::string text;
  for (const std::string& line : lines_of(output)) text += line.substr(0, kLongest) + '\n';
  return text;
}

// Names of CUDA C++ that the compiler does not know.
std::vector<std::string> unknown_names(const std::string& compiler_output) {
  static const std::regex kUnknown(
      "(?:\u2018|')((?:__|h2)\\w+)(?:\u2019|') was not declared|"
      "declaration of (?:\u2018|')((?:__|h2)\\w+)(?:\u2019|') must be available|"
      "(?:\u2018|')(\\w+)(?:\u2019|') is not a member of (?:\u2018|')(?:nvcuda|wmma|cooperative_groups|cg)");
  std::vector<std::string> names;
  for (std::sregex_iterator at(compiler_output.begin(), compiler_output.end(), kUnknown), end;
       at != end; ++at)
    add_once(names, (*at)[1].str() + (*at)[2].str() + (*at)[3].str());
  return names;
}

// Which libraries' functions it does not know: "cuda" for cudaMalloc.
std::vector<std::string> missing_functions(const std::string& output) {
  static const std::regex kUnknown(
      "(?:\u2018|')(cuda|cublas)[A-Z]\\w*(?:\u2019|') was not declared in this scope");
  std::vector<std::string> found;
  for (std::sregex_iterator at(output.begin(), output.end(), kUnknown), end; at != end; ++at)
    add_once(found, (*at)[1].str());
  return found;
}

// What the compiler misses in the namespaces of PyTorch, and in its tensors.
std::vector<std::string> missing_of_torch(const std::string& output) {
  static const std::regex kMissing(
      "(?:\u2018|')(\\w+)(?:\u2019|') is not a member of (?:\u2018|')(?:torch|at|c10)[:\\w]*|"
      "(?:\u2018|')class at::Tensor(?:\u2019|') has no member named (?:\u2018|')(\\w+)|"
      "namespace \"(?:torch|at|c10)[:\\w]*\" has no member \"(\\w+)\"|"
      "class \"at::Tensor\" has no member \"(\\w+)\"");
  std::vector<std::string> found;
  for (std::sregex_iterator at(output.begin(), output.end(), kMissing), end; at != end; ++at) {
    std::string name;
    for (std::size_t i = 1; i < at->size(); ++i) name += (*at)[i].str();
    add_once(found, ((*at)[1].matched || (*at)[3].matched ? "torch::" : "Tensor::") + name);
  }
  return found;
}

// How the names of a library's functions begin, and the words of a `kzoo:` line that link it; the
// first that fits counts.
struct linked_library {
  std::string_view prefix, words;
};
constexpr std::array kLibraries{
    linked_library{"cublasLt", "libraries=cublasLt"},
    linked_library{"cublas", "libraries=cublas"},
    linked_library{"cusparse", "libraries=cusparse"},
    linked_library{"cusolver", "libraries=cusolver"},
    linked_library{"curand", "libraries=curand"},
    linked_library{"cufft", "libraries=cufft"},
    linked_library{"cudnn", "libraries=cudnn"},
    linked_library{"nvrtc", "libraries=nvrtc"},
    linked_library{"nvml", "libraries=nvidia-ml"},
    linked_library{"cuda", ""},  // the runtime's are always there
    linked_library{"cu", "libraries=cuda"},
    linked_library{"cblas_", "native libraries=openblas"},
    linked_library{"omp_", "options=-fopenmp"},
    linked_library{"GOMP_", "options=-fopenmp"},
};

// Words for what the linker misses.
std::vector<std::string> missing_words(const std::string& output) {
  static const std::regex kMissing("undefined reference to [^\\w]+(\\w+)");
  std::vector<std::string> found;
  for (std::sregex_iterator at(output.begin(), output.end(), kMissing), end; at != end; ++at) {
    const std::string name = (*at)[1];
    const auto library = std::ranges::find_if(
        kLibraries, [&](const linked_library& l) { return name.starts_with(l.prefix); });
    if (library != kLibraries.end() && !library->words.empty()) add_once(found, library->words);
  }
  return found;
}

// Whether the compiler objects to one of the lines; nvcc has them in parentheses.
bool is_objected_to(std::string_view file, unsigned first, unsigned last, std::string_view output) {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  for (unsigned line = first; line <= last; ++line)
    if (has_part(output, fmt::format("{}:{}:", name, line)) ||
        has_part(output, fmt::format("{}({}): error", name, line)))
      return true;
  return false;
}

}  // namespace

std::string missing_header_notes(std::string_view file, const std::vector<std::string>& headers) {
  std::string text;
  for (const std::string& name : headers)
    text += fmt::format("{}: note: {} is not here, and was left out\n", file, name);
  return text;
}

std::string host_code_hints(std::string_view file, const needed_code& code,
                            std::string_view compiler_output) {
  std::string text;
  if (code.open_line > 0) {
    text += fmt::format(
        "{}:{}: note: a bracket in this line has no end, so kernels behind it are not found: close it, "
        "or cut the file here if the rest is host code\n",
        file, code.open_line);
  }
  for (const unmarked_code& u : code.unmarked) {
    if (!is_objected_to(file, u.first_line, u.last_line, compiler_output)) continue;
    text += fmt::format(
        "{}:{}: note: {} is not marked as __device__, and was compiled because code that the "
        "kernel needs mentions it: if the kernel does not use it, cut out lines {} to {}\n",
        file, u.first_line, u.name, u.first_line, u.last_line);
  }
  return text;
}

std::string hints(std::string_view device, std::string_view file, std::string_view source,
                  std::string_view whole_output) {
  const std::string compiler_output = in_short_lines(whole_output);
  std::string text;
  for (const std::string& words : missing_words(compiler_output))
    text += fmt::format(
        "{}: note: what the linker misses comes with `// kzoo: {}` in the first lines\n", file,
        words);
  for (const std::string& name : missing_of_torch(compiler_output))
    text += fmt::format(
        "{}: note: {} is not there: operators of PyTorch are not available, and what a function that "
        "takes tensors calls is in <kzoo/tensors.hpp> (docs/plugins.md)\n",
        file, name);
  if (device == "cuda") {
    const bool of_hopper = has_part(compiler_output, "wgmma") ||
                           has_part(compiler_output, "setmaxnreg") ||
                           has_part(compiler_output, "sm_90a");
    if (of_hopper && has_part(compiler_output, "not supported")) {
      text += fmt::format(
          "{}: note: wgmma and setmaxnreg are instructions of sm_90a alone; say so with `// kzoo: "
          "arch=90a` in the first lines, or with ARCH 90a-real in kzoo_add_plugin\n",
          file);
    }
    return text;
  }
  for (const std::string& name : unknown_names(compiler_output)) {
    text += fmt::format(
        "{}: note: {} is not there in the simulator: run the kernel on a GPU (--device cuda), or "
        "compile it for one here (runner compile FILE -o DIR)\n",
        file, name);
  }
  for (const std::string& name : missing_functions(compiler_output))
    text += fmt::format(
        "{}: note: {}… functions are not there in the simulator, and a plugin seldom needs them: the "
        "runner allocates, copies and compares (docs/plugins.md#porting)\n",
        file, name);
  for (const construct& c : kNotSimulated) {
    if (const unsigned line = line_with(source, c.text, compiler_output); line > 0)
      text += fmt::format("{}:{}: note: {} (docs/plugins.md#porting)\n", file, line, c.advice);
  }
  return text;
}

}  // namespace kzoo::compile
