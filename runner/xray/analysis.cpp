#include "xray/analysis.hpp"

#include "compile/run_compiler.hpp"
#include "core/verdict.hpp"
#include "core/version.hpp"
#include "os/printable.hpp"
#include "process/anonymous_files.hpp"
#include "process/command.hpp"
#include "process/messages.hpp"
#include "process/source_frames.hpp"
#include "storage/archive.hpp"
#include "storage/results_json.hpp"
#include "worker/messages_json.hpp"
#include "worker/worker.hpp"
#include "xray/counters.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace kzoo::storage {

void map(auto& io, is<xray::source_frame> auto& f) {
  io("file", f.file);
  io("line", f.line);
  io("function", f.function);
}

void map_counts(auto& io, xray::access a, is<xray::request_counts> auto& c) {
  io("requests", c.requests);
  io("lanes", c.lanes);
  io("bytes", c.bytes);
  io(passes_name(a), c.passes);
  io("ideal", c.ideal);
}

void map(auto& io, is<xray::access_pattern> auto& p) {
  io("mask", p.mask);
  io("bytes", p.bytes);
  io("passes", p.passes);
  io("offsets", p.offsets);
}

constexpr as kAdvice{
    [](const xray::line_counts& l) { return nlohmann::ordered_json(xray::advice_on(l)); },
    [](const field&, const xray::line_counts&) {}};

void map(auto& io, is<xray::line_counts> auto& l) {
  map(io, l.where);
  io("called_from", l.called);
  io("access", l.kind);
  io("bytes_per_lane", l.width);
  io.object("counts", [&](auto& counts) { map_counts(counts, l.kind, l.counts); });
  io("advice", l, kAdvice);
  io("worst", l.worst);
}

void map(auto& io, is<xray::finding> auto& f) {
  io("what", f.what);
  io("where", f.where);
  io("earlier", f.earlier);
  io("first", f.detail);
  io("count", f.count);
  io("advice", f.advice);
}

struct totals {
  const xray::launch& of;
};
void map(auto& io, const totals& t) {
  for (const xray::access a : kAllOf<xray::access>) {
    if (const xray::request_counts sum = t.of.total(a); sum.requests != 0)
      io.object(name_of(a), [&](auto& counts) { map_counts(counts, a, sum); });
  }
}

void map(auto& io, is<xray::launch> auto& l) {
  io("kernel", l.kernel);
  io("grid", l.grid);
  io("block", l.block);
  io("blocks", l.blocks);
  io("blocks_run", l.blocks_run);
  io("barriers", l.barriers);
  io("uncounted", l.uncounted);
  io.derived("totals", totals{l});
  io("lines", l.lines);
  io("findings", l.findings);
  io("error", l.error);
}

void map(auto& io, const xray::analysed& c) {
  io("plugin", c.kernel.plugin);
  io("variant", c.kernel.variant);
  io("problem", problem_name(c.problem));
  io("verdict", c.found ? "analysed" : name_of(c.verdict));
  io("reason", c.reason);
  io("launches", c.found.value_or(std::vector<xray::launch>()));
}

void map(auto& io, const xray::document& d) {
  io.schema("kzoo.xray/1");
  io.object("runner", [](auto& runner) { runner("version", kVersion); });
  io.object("experiment", [&](auto& experiment) { experiment("file", d.experiment); });
  io("cells", d.cells);
}

}  // namespace kzoo::storage

namespace kzoo::xray {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(analysed_cell, library, variant, problem, most_blocks)

int analysed_main(std::string_view cell) {
  return process::answer_once(cell, [](const nlohmann::json& request) {
    return storage::to_value(analyse_here(request.get<analysed_cell>()));
  });
}

namespace {

// The kernel runs in the process that reports this, and could report anything.
class cleaner {
 public:
  static void clean(std::vector<launch>& launches) {
    for (launch& l : launches) {
      clean(l.kernel);
      clean(l.error);
      for (line_counts& line : l.lines) {
        clean(line.where);
        for (source_frame& f : line.called) clean(f);
      }
      for (finding& f : l.findings) {
        for (std::string* text : {&f.what, &f.advice, &f.detail}) clean(*text);
        for (source_frame* frame : {&f.where, &f.earlier}) clean(*frame);
      }
    }
  }

 private:
  static void clean(std::string& text) { text = printable(text, kLongestText); }
  // Reports show the source file's lines; a device, for example, would have no end.
  static void clean(source_frame& f) {
    constexpr std::uintmax_t kLongestSource = 16 << 20;
    clean(f.function);
    std::error_code fault;
    const auto status = std::filesystem::status(f.file, fault);
    const bool is_source = std::filesystem::is_regular_file(status) &&
                           std::filesystem::file_size(f.file, fault) <= kLongestSource;
    if (std::filesystem::exists(status) && !is_source) f.file.clear();
    clean(f.file);
  }
};

}  // namespace

std::vector<launch> analyse(const analysed_cell& cell, double timeout_seconds) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  process::confinement confined = worker::of_plugins();
  confined.held_bytes = confined.data_bytes;
  confined.most_processes = process::enough_processes();  // it asks addr2line for lines
  const process::command_result ran = process::run_confined(
      process::one_shot_command(self, kAnalysedCommand, cell), {}, confined, timeout_seconds);
  if (ran.hung) {
    throw failure(verdict::hung,
                  fmt::format("the analysis did not end within {:g} s, killed; choose a smaller "
                              "problem with --sizes",
                              timeout_seconds));
  }
  if (!ran.exceeded.empty()) throw failure(verdict::error, "the analysis " + ran.exceeded);
  std::vector<launch> launches;
  const std::string printed = process::with_line(process::last_line_of(ran.output), cell.library);
  process::read_reply(
      ran.output, "it " + process::how_it_failed(ran, timeout_seconds) + printed,
      [&](const auto& reply) { from_value(storage::field(reply, "the reply"), launches); });
  cleaner::clean(launches);
  return launches;
}

std::string to_text(const document& d) { return storage::dumped(storage::to_value(d), 2) + '\n'; }

namespace {

namespace fs = std::filesystem;

// Written by kzoo_add_plugin: CMake, its build folder, and the target.
struct build_recipe {
  std::string cmake;
  fs::path folder;
  std::string target;
};

build_recipe read_build_recipe(const fs::path& file, const std::string& plugin) {
  build_recipe r;
  std::ifstream in(file);
  std::string folder;
  if (!std::getline(in, r.cmake) || !std::getline(in, folder) || !std::getline(in, r.target)) {
    throw failure(verdict::unavailable,
                  fmt::format("there is no {}, which says how {} is built for xray: that needs a "
                              "plugin built by kzoo_add_plugin with g++",
                              file.string(), plugin));
  }
  r.folder = folder;
  if (!fs::exists(r.folder)) {
    throw failure(
        verdict::unavailable,
        fmt::format("xray builds {} anew, and its build folder {} is not here", plugin, folder));
  }
  // The build writes into the folder, and the file could name any folder.
  std::error_code fault;
  const fs::path below = fs::canonical(file, fault).lexically_relative(fs::canonical(r.folder));
  if (below.empty() || *below.begin() == ".." || !fs::exists(r.folder / "CMakeCache.txt", fault)) {
    throw failure(verdict::unavailable,
                  fmt::format("xray builds {} anew, and {} names {}, which is not the build folder "
                              "that the plugin is in",
                              plugin, file.string(), r.folder.string()));
  }
  return r;
}

fs::path folder_of_builds(const fs::path& file) {
  return fs::absolute(file).parent_path().parent_path() / "cpu-xray";
}

}  // namespace

fs::path existing_build(const fs::path& file) {
  const fs::path library = folder_of_builds(file) / file.filename();
  std::error_code ignored;
  const bool is_current = fs::exists(library, ignored) && fs::last_write_time(library, ignored) >=
                                                              fs::last_write_time(file, ignored);
  return is_current ? library : fs::path();
}

fs::path analysed_build(const fs::path& file) {
  constexpr double kTimeoutSeconds = 600;
  const std::string name = file.stem().string();
  const fs::path folder = folder_of_builds(file);
  const build_recipe r = read_build_recipe(folder / (name + ".build"), name);
  const process::build_lock lock(r.folder);
  const process::command_result built = compile::run_compiler(
      {r.cmake, "--build", r.folder.string(), "--target", r.target}, r.folder, kTimeoutSeconds);
  const fs::path library = folder / (name + ".so");
  if (built.code != 0 || !fs::exists(library)) {
    throw failure(verdict::error,
                  fmt::format("{} cannot be built for xray: cmake {}: {}", name,
                              process::how_it_failed(built, kTimeoutSeconds),
                              printable(process::first_error_in(built.output), 500)));
  }
  return library;
}

}  // namespace kzoo::xray
