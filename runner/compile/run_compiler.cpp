#include "compile/run_compiler.hpp"

#include "devices/devices.hpp"
#include "os/assets.hpp"
#include "os/files.hpp"
#include "os/text.hpp"

#include <fmt/format.h>

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <regex>
#include <utility>

namespace kzoo::compile {
namespace {

constexpr std::uint64_t kGigabyte = std::uint64_t{1} << 30;
constexpr std::uint64_t kLongestFile = kGigabyte / 2;

// Most of the free memory, but no more than any known kernel takes: an endless compilation is given
// up in seconds, before the machine begins to swap.
std::uint64_t most_memory() {
  constexpr double kShare = 0.8;
  constexpr std::uint64_t kEnough = 16 * kGigabyte;
  const double free = double(devices::free_memory(devices::find("cpu")));
  return std::min(kEnough, static_cast<std::uint64_t>(kShare * free));
}

process::confinement confined_to(const std::filesystem::path& folder, double seconds) {
  const std::uint64_t memory = most_memory();
  return {.writable = {folder},
          .data_bytes = memory,
          .held_bytes = memory,
          .file_bytes = kLongestFile,
          .cpu_seconds = seconds,
          .kept_output = 20000,
          .most_processes = process::enough_processes(),
          .shares_memory = false,
          .variables = {// Compilers, linkers, and where they find headers and libraries.
                        "CC", "CXX", "CUDACXX", "CUDAHOSTCXX", "NVCC_*", "CPATH", "C_INCLUDE_PATH",
                        "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_*", "LDFLAGS",
                        "CFLAGS", "CXXFLAGS", "CUDAFLAGS", "CUDAARCHS",
                        // Python and CMake, and where they find packages.
                        "PYTHONPATH", "CMAKE_*", "NINJA_STATUS", "PKG_CONFIG_*", "CONDA_PREFIX",
                        "VIRTUAL_ENV", "*_ROOT", "*_DIR", "*_HOME"}};
}

// Phrases of errno, signals, compilers, assemblers and linkers.
struct phrase {
  std::string_view part, meaning;
};
constexpr std::array kNoRoom{phrase{"No space left on device", "the disk is full"},
                             phrase{"Disk quota exceeded", "your quota of the disk is used up"}};
constexpr std::string_view kTooLong = "File size limit exceeded";
constexpr std::array kNoMemory{"out of memory allocating", "virtual memory exhausted",
                               "memory exhausted", "Cannot allocate memory", "std::bad_alloc"};
constexpr std::array kNoTime{"CPU time limit exceeded", "signal 24", "SIGXCPU"};

bool has_any(const std::string& output, const auto& list) {
  return std::ranges::any_of(list, [&](std::string_view part) { return has_part(output, part); });
}

// The limit that made a compiler end by itself. Empty if none did.
std::string exceeded_in(const process::command_result& result, const process::confinement& c) {
  constexpr int kSignalled = 128;
  if (has_part(result.output, kTooLong))
    return fmt::format("wrote a file of more than {:.1f} GB", double(c.file_bytes) / 1e9);
  if (has_any(result.output, kNoMemory))
    return fmt::format("needed more than {:.1f} GB of memory", double(c.data_bytes) / 1e9);
  if (result.code == kSignalled + SIGXCPU || has_any(result.output, kNoTime))
    return fmt::format("took more than {:g} seconds of processor time", c.cpu_seconds);
  return "";
}

// Whether the line has the text, a word as a whole, outside a // comment.
bool uses(std::string_view line, std::string_view text) {
  line = line.substr(0, line.find("//"));
  return is_in_word(text.back()) ? has_word(line, text) : has_part(line, text);
}

// The first line, from 1, that the compiler objects to and that has the construct; 0 if none. The
// assembler reports errors in `asm` in lines of its own.
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

// Texts made of the matches, each once.
std::vector<std::string> texts_of(const std::string& output, const std::regex& pattern,
                                  const auto& text_of) {
  std::vector<std::string> texts;
  for (std::sregex_iterator match(output.begin(), output.end(), pattern), end; match != end;
       ++match)
    if (const std::string text = text_of(*match); !text.empty()) add_once(texts, text);
  return texts;
}

// Names of CUDA C++ that the compiler does not know.
std::vector<std::string> unknown_names(const std::string& compiler_output) {
  static const std::regex kUnknown(
      "(?:\u2018|')((?:__|h2)\\w+)(?:\u2019|') was not declared|"
      "declaration of (?:\u2018|')((?:__|h2)\\w+)(?:\u2019|') must be available|"
      "(?:\u2018|')(\\w+)(?:\u2019|') is not a member of (?:\u2018|')(?:nvcuda|wmma|cooperative_groups|cg)");
  return texts_of(compiler_output, kUnknown,
                  [](const std::smatch& m) { return m.str(1) + m.str(2) + m.str(3); });
}

// Libraries whose functions the compiler does not know: "cuda" for cudaMalloc.
std::vector<std::string> missing_functions(const std::string& output) {
  static const std::regex kUnknown(
      "(?:\u2018|')(cuda|cublas)[A-Z]\\w*(?:\u2019|') was not declared in this scope");
  return texts_of(output, kUnknown, [](const std::smatch& m) { return m.str(1); });
}

// Names that the compiler misses in PyTorch's namespaces and tensors.
std::vector<std::string> missing_in_torch(const std::string& output) {
  static const std::regex kMissing(
      "(?:\u2018|')(\\w+)(?:\u2019|') is not a member of (?:\u2018|')(?:torch|at|c10)[:\\w]*|"
      "(?:\u2018|')class at::Tensor(?:\u2019|') has no member named (?:\u2018|')(\\w+)|"
      "namespace \"(?:torch|at|c10)[:\\w]*\" has no member \"(\\w+)\"|"
      "class \"at::Tensor\" has no member \"(\\w+)\"");
  return texts_of(output, kMissing, [](const std::smatch& m) {
    const bool in_namespace = m[1].matched || m[3].matched;
    return (in_namespace ? "torch::" : "Tensor::") + m.str(1) + m.str(2) + m.str(3) + m.str(4);
  });
}

// Hints on functions that the linker misses.
std::vector<std::string> missing_words(const std::string& output) {
  static const auto kLibraries = asset_table("compile/libraries");
  static const std::regex kMissing("undefined reference to [^\\w]+(\\w+)");
  return texts_of(output, kMissing, [](const std::smatch& m) {
    const auto library = std::ranges::find_if(
        kLibraries, [&](const auto& l) { return m.str(1).starts_with(l.first); });
    return library == kLibraries.end() ? std::string() : library->second;
  });
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

process::command_result run_compiler(const std::vector<std::string>& command,
                                     const std::filesystem::path& folder, double timeout_seconds) {
  const process::confinement confined = confined_to(folder, timeout_seconds);
  process::command_result result =
      process::run_confined(command, {"CCACHE_DISABLE=1"}, confined, timeout_seconds);
  if (std::string text = printable_lines(result.output); !text.empty())
    result.output = std::move(text) + '\n';
  if (result.code == 0) return result;
  rlimit own{};
  getrlimit(RLIMIT_FSIZE, &own);
  std::string_view no_room;
  for (const auto& [part, meaning] : kNoRoom)
    if (has_part(result.output, part)) no_room = meaning;
  if (own.rlim_cur < kLongestFile && has_part(result.output, kTooLong))
    no_room = "files may not become that large (ulimit -f)";
  if (!no_room.empty()) {
    throw not_written(fmt::format(
        "the compiler could not write its output: {}. It writes below {} (XDG_CACHE_HOME) and {} "
        "(TMPDIR); make room there, or name other folders",
        no_room, folder.parent_path().string(), temporary_files().string()));
  }
  if (result.exceeded.empty() && !result.hung) result.exceeded = exceeded_in(result, confined);
  return result;
}

std::string missing_header_notes(std::string_view file, const std::vector<std::string>& headers) {
  std::string text;
  for (const std::string& name : headers)
    text += fmt::format("{}: note: {} is not here, and was left out\n", file, name);
  return text;
}

std::string host_code_hints(std::string_view file, const source::needed_code& code,
                            std::string_view compiler_output) {
  std::string text;
  if (code.open_line) {
    text += fmt::format(
        "{}:{}: note: a bracket in this line has no end, so kernels behind it are not found: close it, "
        "or cut the file here if the rest is host code\n",
        file, *code.open_line);
  }
  for (const source::unmarked_code& u : code.unmarked) {
    if (!is_objected_to(file, u.first_line, u.last_line, compiler_output)) continue;
    text += fmt::format(
        "{}:{}: note: {} is not marked as __device__, and was compiled because code that the "
        "kernel needs mentions it: if the kernel does not use it, cut out lines {} to {}\n",
        file, u.first_line, u.name, u.first_line, u.last_line);
  }
  return text;
}

int compiler_main(const std::filesystem::path& folder, const std::vector<std::string>& command) {
  constexpr double kMostSeconds = 600;
  const process::command_result ran = run_compiler(command, folder, kMostSeconds);
  fmt::print(stderr, "{}", ran.output);
  if (ran.code == 0 && !ran.hung) return 0;
  fmt::print(stderr, "the compiler {}\n", process::how_it_failed(ran, kMostSeconds));
  return kCompilerFailed;
}

std::string hints(std::string_view device, std::string_view file, std::string_view source,
                  std::string_view whole_output) {
  const std::string compiler_output = in_short_lines(whole_output);
  std::string text;
  for (const std::string& words : missing_words(compiler_output))
    text += fmt::format(
        "{}: note: what the linker misses comes with `// kzoo: {}` in the first lines\n", file,
        words);
  for (const std::string& name : missing_in_torch(compiler_output))
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
  for (const auto& [code, advice] : asset_table("compile/not_simulated")) {
    if (const unsigned line = line_with(source, code, compiler_output); line > 0)
      text += fmt::format("{}:{}: note: {} (docs/plugins.md#porting)\n", file, line, advice);
  }
  return text;
}

}  // namespace kzoo::compile
