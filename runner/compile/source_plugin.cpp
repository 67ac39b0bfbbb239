#include "compile/source_plugin.hpp"

#include "compile/bare_kernel.hpp"
#include "compile/run_compiler.hpp"
#include "core/version.hpp"
#include "input/diagnostics.hpp"
#include "manifest/pack.hpp"
#include "os/files.hpp"
#include "os/posix.hpp"
#include "os/sha256.hpp"
#include "os/text.hpp"
#include "source/files.hpp"
#include "source/tensor_functions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <system_error>
#include <utility>

namespace kzoo::compile {
namespace {

namespace fs = std::filesystem;
using words = std::vector<std::string>;

constexpr input::file_kind kRuleFile{"a list of included files", "", 16};
constexpr double kTimeoutSeconds = 600;

void append(words& to, const words& from) { to.insert(to.end(), from.begin(), from.end()); }

// nvcc has a name of its own for options of the linker.
std::string linker_option(const std::string& option, bool is_cuda) {
  constexpr std::string_view kOfCompiler = "-Wl,";
  if (!is_cuda || !option.starts_with(kOfCompiler)) return option;
  std::string all = "-Xlinker=";
  for (const char c : option.substr(kOfCompiler.size())) {
    if (std::string_view(" ()'&;").find(c) != std::string_view::npos) all += '\\';
    all += c;
  }
  return all;
}

// The commands without their output files. As in CMake, compiling and linking are two steps: in one
// step, options such as -fsanitize would link a runtime. If only device code is compiled, nothing
// is linked.
struct commands {
  words compile, link;
  std::string build_info;
};

// Whether nothing but the device code of a source is compiled.
bool is_device_code(const source_unit& u, const recipe& toolchain) {
  return u.generated && !u.has_function && !toolchain.launcher.empty();
}

commands commands_for(const fs::path& source, const recipe& toolchain, const source_unit& unit,
                      const build_request& asked) {
  const source::build_settings& settings = unit.settings;
  const bool is_cuda = toolchain.device == "cuda";
  const words architectures = !asked.architectures.empty()     ? asked.architectures
                              : settings.architectures.empty() ? toolchain.architectures
                                                               : settings.architectures;
  std::string info = toolchain.build_info;
  if (const auto at = info.find("{architectures}"); at != std::string::npos) {
    info.replace(at, std::string_view("{architectures}").size(),
                 fmt::format("{}", fmt::join(architectures, " ")));
  }
  words compile{toolchain.compiler};
  append(compile, toolchain.options);
  if (is_cuda)
    for (const std::string& name : architectures)
      compile.push_back(source::architecture_option(name));
  for (const std::string& definition : toolchain.definitions) compile.push_back("-D" + definition);
  compile.push_back(fmt::format("-DKZOO_BUILD_INFO=\"{}\"", info));
  if (settings.native && !is_cuda) compile.emplace_back("-DKZOO_NATIVE=1");
  if (!is_cuda && !settings.native) append(compile, {"-I", toolchain.simulated_include});
  if (unit.has_function) append(compile, {"-I", toolchain.include + "/kzoo/torch_headers"});
  append(compile, {"-I", toolchain.include, "-I", source.parent_path().string()});
  append(compile, settings.options);
  append(compile, asked.options);
  if (is_device_code(unit, toolchain)) {
    compile.emplace_back("-fatbin");
    return {std::move(compile), {}, info};
  }
  if (!is_cuda) append(compile, {"-x", "c++"});
  compile.emplace_back("-c");

  words link;  // after the compiler and the object file
  for (const words* options : {&toolchain.link_options, &toolchain.libraries})
    for (const std::string& option : *options) link.push_back(linker_option(option, is_cuda));
  if (is_cuda || settings.native)
    for (const std::string& name : settings.libraries) link.push_back("-l" + name);
  return {std::move(compile), std::move(link), info};
}

// Equal content in several folders is compiled once. Tables of accesses name the source's lines by
// its path.
places places_of(const fs::path& source, const recipe& toolchain) {
  places known{{"{sdk}", toolchain.include}};
  if (toolchain.device != "cpu-xray") known.push_back({"{source}", source.parent_path()});
  return known;
}

// The word, with the content of the file that it names in place of its path.
std::string word_by_content(const std::string& word) {
  const std::string content = sha256_of(word.substr(std::min(word.find('/'), word.size())));
  return content.empty() ? word : word.substr(0, word.find('/')) + content;
}

// Everything that determines the command's output, except the included files.
std::string key_of(const commands& c, const recipe& toolchain, std::string_view text,
                   const places& known) {
  std::string all = fmt::format("{}\n{}\n{}\n", kVersion, toolchain.version, toolchain.device);
  for (const words* each : {&c.compile, &c.link}) {
    for (const std::string& word : *each)
      all += with_names(word_by_content(word) + '/', known) + '\n';
    if (each->empty()) all += sha256_of(toolchain.launcher) + '\n';
  }
  return sha256(all.append(text));
}

// The headers that the source would find in its own folder before any other.
std::string headers_beside(const fs::path& source, std::string_view text) {
  std::string names;
  std::error_code fault;
  for (const auto& [name, quoted] : source::includes_in(text))
    if (fs::exists(source.parent_path() / name, fault)) names += name + '\n';
  return names;
}

// The files that a makefile rule depends on: "target: a b \" and so on, with "\ " for a space and
// "$$" for a dollar sign.
words dependencies_in(std::string_view rule) {
  words files;
  rule.remove_prefix(std::min(rule.find(": "), rule.size()));
  std::string file;
  const auto end_file = [&] {
    if (!file.empty()) files.push_back(std::move(file));
    file.clear();
  };
  for (std::size_t at = std::min<std::size_t>(1, rule.size()); at < rule.size(); ++at) {
    const char next = at + 1 < rule.size() ? rule[at + 1] : '\n';
    const bool is_escaped =
        (rule[at] == '\\' && (next == ' ' || next == '#')) || (rule[at] == '$' && next == '$');
    if (is_escaped) {
      file += rule[++at];
    } else if (rule[at] == '\\' && next == '\n') {
      end_file();
    } else if (rule[at] == ' ' || rule[at] == '\n') {
      end_file();
    } else {
      file += rule[at];
    }
  }
  end_file();
  std::ranges::sort(files);
  files.erase(std::ranges::unique(files).begin(), files.end());
  return files;
}

bool any_changed_since(const words& files, fs::file_time_type start) {
  std::error_code fault;
  return std::ranges::any_of(
      files, [&](const std::string& file) { return fs::last_write_time(file, fault) >= start; });
}

[[noreturn]] void throw_does_not_compile(const fs::path& source, const recipe& toolchain,
                                         const std::string& notes,
                                         const process::command_result& result) {
  const std::string name = source.string();
  throw does_not_compile(fmt::format(
      "{}{}error: {} {} for {}{}", result.output, notes, name, "does not compile", toolchain.device,
      result.hung || !result.exceeded.empty()
          ? ": the compiler " + process::how_it_failed(result, kTimeoutSeconds)
          : ""));
}

struct try_again {};

// Makes the compiler name the source for the text.
std::string numbered_lines(const std::string& text, const fs::path& source) {
  return fmt::format("#line 1 {}\n{}", literal(source.string()),
                     source::without_byte_order_mark(text));
}

std::string function_note(const std::string& file, const source_unit& u) {
  if (!u.has_function) return "";
  return fmt::format(
      "{}: note: {} launches its kernels: this host code runs each time, and counts in the time\n",
      file, u.kernels.variants[0].launch.entry);
}

// A note that replaces the hint on linking cuBLAS; "" unless the compiler misses cuBLAS.
std::string cublas_note(const std::string& file, const source_unit& u, std::string_view output) {
  const auto misses = [&](std::string_view quote) {
    return output.find(std::string(quote) + "cublas") != std::string_view::npos;
  };
  if (!u.has_function || !(misses("`") || misses("'") || misses("\u2018"))) return "";
  return fmt::format(
      "{}: note: {} calls cuBLAS, whose kernels would run when the function is called once "
      "without memory, to learn its workspace: make it a plugin (docs/plugins.md#variants)\n",
      file, u.kernels.variants[0].launch.entry);
}

// The compiled part of the source and of its headers in quotes, with #line for their names.
std::vector<source::cut_file> compiled_files(const source_unit& u, const fs::path& source,
                                             const std::string& text, bool simulated,
                                             const source_cut& cut) {
  const source::adaptation to{simulated, !cut.missing.empty(), u.has_function, cut.cuts_headers};
  auto files = cut.is_cut ? source::kernel_code(u.kernels, source, text, to)
                          : source::with_headers(source, text);
  for (source::cut_file& each : files) {
    std::string& code = each.code.text;
    if (u.has_function) {
      each.code.unmarked.clear();  // all of it is what is compiled
      code = source::with_launches_called(code, simulated);
    }
    code = numbered_lines(source::without_includes(code, cut.missing), each.file);
  }
  return files;
}

// Whether the compiler has not found the header; in the simulator, also whether it is one of CUDA's
// own and does not compile there.
bool is_lacking(const std::string& header, const std::string& output, const recipe& toolchain) {
  if (output.find(fmt::format(": {}: ", header)) != std::string::npos) return true;
  const std::size_t at = output.find(fmt::format("/{}:", header));
  if (toolchain.device == "cuda" || at == std::string::npos) return false;
  const std::size_t begin = output.find_last_of(" \n", at);
  const fs::path folder = output.substr(begin + 1, at - begin - 1);
  return folder != toolchain.simulated_include && fs::exists(folder / "cuda_runtime.h");
}

// Throws try_again if a smaller part of the source may compile. `compiled` gives the part for a
// cut.
template <class Compiled>
void try_less(const Compiled& compiled, const process::command_result& failed,
              const recipe& toolchain, source_cut& cut) {
  if (failed.hung) return;
  const auto is_less = [](const source::cut_file& each) { return !each.code.is_whole; };
  const bool was_cut = std::exchange(cut.is_cut, true);
  const std::vector<source::cut_file> files = compiled(cut);
  for (const source::cut_file& each : files)
    for (const auto& [name, quoted] : source::includes_in(each.code.text)) {
      if (!is_lacking(name, failed.output, toolchain)) continue;
      cut.missing.push_back(name);
      cut.output += failed.output;
      throw try_again();
    }
  if (!was_cut && std::ranges::any_of(files, is_less)) throw try_again();
  if (!std::exchange(cut.cuts_headers, true) && files.size() > 1 &&
      std::ranges::any_of(compiled(cut), is_less))
    throw try_again();
}

// The compiler's output, and the files that it read, except those in the folder.
struct built {
  std::string output;
  words includes;
};

// Reads the file; refuses a symbolic link.
std::string read_made(const fs::path& file, const input::file_kind& kind) {
  if (fs::symlink_status(file).type() != fs::file_type::regular)
    input::refuse(file.string(), "is no file that a compiler makes");
  return input::read_file(file, kind);
}

words files_included(const fs::path& rule, const fs::path& folder) {
  constexpr std::size_t kMost = 20'000;
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 30;
  words includes = dependencies_in(read_made(rule, kRuleFile));
  std::erase_if(includes, [&](const std::string& file) {
    return fs::path(file).lexically_normal().string().starts_with(folder.string() + '/');
  });
  std::uintmax_t bytes = 0;
  for (const std::string& file : includes) {
    if (!fs::exists(file)) continue;  // a name that a #line gives
    if (!fs::is_regular_file(file)) input::refuse(file, "is included, and is no ordinary file");
    bytes += fs::file_size(file);
  }
  if (includes.size() > kMost || bytes > kMostBytes)
    input::refuse("", "{} included files of {:.0f} MB are more than a source may have",
                  includes.size(), double(bytes) / 1e6);
  return includes;
}

void allow_owner_alone(const fs::path& library) {
  using enum fs::perm_options;  // applies to links themselves
  fs::permissions(library, fs::perms::owner_all, replace | nofollow);
}

// `named`: the source by the name that its author gave.
void refuse_if_large(const fs::path& folder, const std::string& named, const std::string& device) {
  if (const std::uint64_t bytes = cache::size_of(folder); bytes > cache::kLargest) {
    throw does_not_compile(fmt::format(
        "error: what {} compiles to for {} has {:.0f} MB, and a plugin may have {:.0f} MB", named,
        device, double(bytes) / 1e6, double(cache::kLargest) / 1e6));
  }
}

// Writes the files below the folder, with their relative paths. Returns the first file's folder.
fs::path write_copies(const std::vector<source::cut_file>& files, const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const source::cut_file& each : files) paths.push_back(fs::weakly_canonical(each.file));
  fs::path above = paths[0].parent_path();
  const auto is_outside = [&](const fs::path& file) {
    return *file.lexically_relative(above).begin() == "..";
  };
  while (std::ranges::any_of(paths, is_outside)) above = above.parent_path();
  for (std::size_t i = 0; i < files.size(); ++i) {
    const fs::path copy = folder / "sources" / paths[i].lexically_relative(above);
    fs::create_directories(copy.parent_path());
    write_file(copy, files[i].code.text);
  }
  return folder / "sources" / paths[0].parent_path().lexically_relative(above);
}

// Compiles and links in the folder; calls `failed` if either fails. `preamble`: text that is
// compiled before the source.
template <class Failed>
built build(const commands& c, const recipe& toolchain, const fs::path& source,
            const std::string& preamble, const fs::path& folder, const std::string& library,
            const Failed& failed) {
  const fs::path rule = folder / "dependencies";
  const std::string object = (folder / "object.o").string();
  words compile = c.compile;
  if (!preamble.empty()) {
    const fs::path file = folder / "preamble.hpp";
    write_file(file, preamble);
    append(compile, {"-include", file.string()});
  }
  append(compile, {source.string(), "-MD", "-MF", rule.string(), "-o", object});
  words link{toolchain.compiler, "-shared", "-o", (folder / library).string(), object};
  append(link, c.link);
  std::string output;
  for (const words& command : {compile, link}) {
    process::command_result result = run_compiler(command, folder, kTimeoutSeconds);
    if (result.code != 0 || result.hung) failed(result);
    output += result.output;
  }
  fs::remove(object);
  if (fs::symlink_status(folder / library).type() != fs::file_type::regular)
    input::refuse(source.string(), "what is linked is no library");
  allow_owner_alone(folder / library);
  return {std::move(output), files_included(rule, folder)};
}

// The PTX of one of the architectures.
std::string ptx_in(const fs::path& folder) {
  constexpr input::file_kind kPtx{"PTX", ".ptx", 256};
  const std::vector<fs::path> files = paths_in(folder, ".ptx");
  return files.empty() ? "" : read_made(files.front(), kPtx);
}

// Compiles the device code of bare kernels alone, and makes a library of it in the folder. The
// compiler writes to another folder, so a source cannot make it write into the library.
template <class Failed>
built build_device_code(const commands& c, const recipe& toolchain, const source_unit& u,
                        const fs::path& source, const std::vector<source::cut_file>& copied,
                        const cache& kept, const fs::path& library, const Failed& failed) {
  constexpr input::file_kind kKernelsFile{"a file of compiled kernels", ".fatbin", 256};
  const temporary_folder scratch = kept.new_folder();
  const fs::path folder = scratch.path(), rule = folder / "dependencies",
                 text = (copied.empty() ? folder : write_copies(copied, folder)) / "kzoo_launch.cu",
                 kernels = folder / "kernels.fatbin";
  write_file(text, *u.generated + mark_text(u.kernels));
  words compile = c.compile;
  append(compile, {text.string(), "--keep", "--keep-dir", folder.string(), "-MD", "-MF",
                   rule.string(), "-o", kernels.string()});
  const process::command_result result = run_compiler(compile, folder, kTimeoutSeconds);
  if (result.code != 0 || result.hung) failed(result);
  manifest::kernel_manifest launches = launches_of(u.kernels, ptx_in(folder), source);
  launches.build = c.build_info;
  const std::string code = read_made(kernels, kKernelsFile);
  if (const auto flaw = manifest::flaw_in(code))
    input::refuse(source.string(), "what is compiled " + *flaw);
  write_file(library, manifest::pack(launches, code, toolchain.launcher, source.string()));
  allow_owner_alone(library);
  return {result.output, files_included(rule, folder)};
}

// Refuses files that cannot be compiled as CUDA C++.
void refuse_unless_source(const fs::path& file, const fs::path& source, const recipe& toolchain) {
  if (toolchain.device == "cuda" && source.string().find_first_of("\"$`\\\n") != std::string::npos)
    input::refuse(file.string(), "nvcc takes no path with \", $, ` or \\ in it; rename the folder");
  if (source.extension() == ".py" && source::read_source(source, file.string()).empty())
    input::refuse(
        file.string(),
        "is Python, which is not run beside the clock, and has no CUDA C++ in a string in triple "
        "quotes; compile its kernel to a cubin, as kzoo.triton_kernel does, and name the manifest "
        "of that (docs/compiled-kernels.md)");
  if (source.extension() == ".c") {
    const std::string name = file.string();
    input::refuse(name,
                  "is C, and sources are compiled as C++; build it and name the library: cc -O2 "
                  "-shared -fPIC -I {} {} -o {}",
                  toolchain.include, name, fs::path(file).replace_extension(".so").string());
  }
}

// The variant of a source's function that takes tensors: the GEMM that it computes.
manifest::described_variant function_variant(const source::description& d) {
  const source::tensor_function& f = *d.function;
  const source::needed_code code = source::needed_by({f.name}, d.text, {}, {.for_host = true});
  manifest::described_variant v;
  v.launch.entry = f.name;
  v.launch.grid[2] = "batch";  // in the tensors' third dimension
  v.entry_at = {d.file, f.line, 1};
  v.types = source::types_of_tensors(code.text);
  v.layouts = {layout::nn};
  v.launch.type_a = v.types[0].a;
  v.launch.type_b = v.types[0].b;
  v.launch.type_c = v.types[0].c;
  using enum manifest::argument_kind;
  for (const auto kind : {a, b, c}) v.launch.arguments.push_back({kind, {}, "", 0});
  const auto gets = [&f](const char* name) { return std::ranges::count(f.arguments, name) > 0; };
  if (gets("alpha")) v.launch.arguments.push_back({alpha, {}, "", 0});
  if (gets("beta") && gets("C")) v.launch.arguments.push_back({beta, {}, "", 0});
  return v;
}

}  // namespace

source_unit unit_of(const source::description& d, const fs::path& source,
                    const results::tuning_point& point) {
  input::diagnostics report(d.file, d.text);
  const experiment::node_table valued_keys =
      d.is_bare ? source::with_values(d.keys, point) : d.keys;
  experiment::table_reader keys(valued_keys, "", report);
  source_unit u{source::read_build_settings(keys), "", {}, {}};
  keys.find(source::kTuneKey);
  if (d.is_bare)
    u.kernels = manifest::read_variants(keys, manifest::kernel_origin::source, d.top, report);
  if (d.function) {
    keys.find(source::kFunctionKey);
    u.has_function = true;
    const auto& libraries = u.settings.libraries;
    const auto starts_kernels =
        std::ranges::find_if(libraries, [](const auto& name) { return name != "cuda"; });
    if (starts_kernels != libraries.end())
      input::refuse(d.file,
                    "{} takes tensors, and is called once without memory before it runs, where {} "
                    "would start kernels: make it a plugin",
                    d.function->name, *starts_kernels);
    u.kernels = manifest::read_started(keys, function_variant(d), report);
  }
  keys.finish();
  report.throw_if_any();
  if (d.is_bare)
    u.generated = plugin_text(u.kernels, source);
  else
    u.preamble = source::preamble(source, point);
  if (d.function) u.generated = plugin_text(u.kernels, *d.function, source);
  return u;
}

compiled source_plugin(const fs::path& file, const recipe& toolchain, const build_request& asked,
                       const cache& kept, const results::tuning_point& point) {
  const fs::path source = fs::absolute(file).lexically_normal();
  const std::string library = source.stem().string() + ".so";
  refuse_unless_source(file, source, toolchain);
  constexpr int kTries = 3;  // where a file is saved while it is compiled
  source_cut cut = asked.cut;
  for (int builds = 0;;) {
    try {
      const std::string text = source::read_source(source, file.string());
      const auto unit_named = [&](const fs::path& named) {
        return unit_of(source::describe(source, named.string(), text), source, point);
      };
      const source_unit u = unit_named(file);
      commands c = commands_for(source, toolchain, u, asked);
      // A build without a missing header is found only while the header is missing.
      const places known = places_of(source, toolchain);
      const std::string key = key_of(
          c, toolchain,
          fmt::format("{}{}{}{}{}", text, u.preamble,
                      with_names(unit_named(source.filename()).generated.value_or(""), known),
                      fmt::join(cut.missing, "\n"), headers_beside(source, text)),
          known);
      const bool is_bare = u.generated.has_value(), host_code = !is_device_code(u, toolchain);
      const std::string notes =
          missing_header_notes(file.string(), cut.missing) + function_note(file.string(), u);
      if (auto found = kept.find(key, library, known))
        return {std::move(*found), false, notes, host_code, cut};
      if (asked.deadline && steady_seconds() >= *asked.deadline) throw not_begun();

      const auto start = fs::file_time_type::clock::now();
      const temporary_folder scratch = kept.new_folder();
      const bool simulated = toolchain.device != "cuda" && !u.settings.native;
      const auto compiled = [&](const source_cut& less) {
        return compiled_files(u, source, text, simulated, less);
      };
      const auto failed = [&](const process::command_result& result) {
        std::string advice = cublas_note(file.string(), u, result.output);
        if (advice.empty())
          advice = hints(toolchain.device, file.string(), text, cut.output + result.output);
        if (is_bare) try_less(compiled, result, toolchain, cut);
        advice += notes;
        for (const source::cut_file& each :
             is_bare ? compiled(cut) : std::vector<source::cut_file>{})
          advice += host_code_hints(each.file == source ? file.string() : each.file.string(),
                                    each.code, result.output);
        throw_does_not_compile(file, toolchain, advice, result);
      };
      std::vector<source::cut_file> copied;
      const bool is_python = source.extension() == ".py";
      if (cut.is_cut || u.has_function || is_python) copied = compiled(cut);
      // The author's headers come first, as beside the source. nvcc has them before its own.
      if (!copied.empty() && toolchain.device != "cuda")
        append(c.compile, {"-iquote", source.parent_path().string()});
      fs::path compiled_file = source;
      if (is_bare && host_code) {
        const fs::path folder =
            copied.empty() ? scratch.path() : write_copies(copied, scratch.path());
        compiled_file =
            folder /
            fs::path("kzoo_launch").replace_extension(is_python ? ".cu" : source.extension());
        write_file(compiled_file, *u.generated);
      }
      auto [output, includes] = host_code ? build(c, toolchain, compiled_file, u.preamble,
                                                  scratch.path(), library, failed)
                                          : build_device_code(c, toolchain, u, source, copied, kept,
                                                              scratch.path() / library, failed);
      for (const source::cut_file& each : copied)
        if (each.file != source) add_once(includes, each.file.string());
      refuse_if_large(scratch.path(), file.string(), toolchain.device);
      if (any_changed_since(includes, start) && ++builds < kTries) continue;
      std::erase(includes, source.string());  // the key has its text
      return {kept.store(scratch.path(), key, library, includes, known), true, output + notes,
              host_code, cut};
    } catch (const try_again&) {
    }
  }
}

fs::path generated_plugin(const std::string& name, const std::string& text, const recipe& toolchain,
                          const cache& kept) {
  const std::string library = name + ".so";
  source_unit unit;
  unit.settings.native = true;
  const commands c = commands_for(kept.folder() / "any", toolchain, unit, {});
  const places known{{"{sdk}", toolchain.include}};
  const std::string key = key_of(c, toolchain, name + '\n' + text, known);
  if (auto found = kept.find(key, library, known)) return std::move(*found);
  const temporary_folder scratch = kept.new_folder();
  const fs::path source = scratch.path() / "generated.cpp";
  write_file(source, text);
  const built made =
      build(c, toolchain, source, "", scratch.path(), library,
            [&](const auto& result) { throw_does_not_compile(source, toolchain, "", result); });
  return kept.store(scratch.path(), key, library, made.includes, known);
}

}  // namespace kzoo::compile
