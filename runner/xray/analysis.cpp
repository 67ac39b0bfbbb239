#include "xray/analysis.hpp"

#include "compile/run_compiler.hpp"
#include "core/verdict.hpp"
#include "os/printable.hpp"
#include "process/anonymous_files.hpp"
#include "process/command.hpp"
#include "process/messages.hpp"
#include "process/source_frames.hpp"
#include "storage/parts_json.hpp"
#include "storage/results_json.hpp"
#include "storage/schema.hpp"
#include "worker/messages_json.hpp"
#include "worker/worker.hpp"
#include "xray/counters.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace kzoo::storage {

void describe(auto& fields, maybe_const<xray::source_frame> auto& f) {
  fields(KZOO_MEMBERS(f, file, line, function));
}

void describe_counts(auto& fields, xray::access a, maybe_const<xray::request_counts> auto& c) {
  fields(KZOO_MEMBERS(c, requests, lanes, bytes));
  fields.either(
      "wavefronts", is_shared(a), [&] { fields("wavefronts", c.passes); },
      [&] { fields("sectors", c.passes); });
  fields(KZOO_MEMBERS(c, ideal));
}

void describe(auto& fields, maybe_const<xray::access_pattern> auto& p) {
  fields(KZOO_MEMBERS(p, mask, bytes, passes, offsets));
}

void describe(auto& fields, maybe_const<xray::line_counts> auto& l) {
  describe(fields, l.where);
  fields("called_from", l.called, "access", l.kind, "bytes_per_lane", l.width);
  fields.object("counts", [&](auto& counts) { describe_counts(counts, l.kind, l.counts); });
  fields.derived("advice", xray::advice_on(l));
  fields(KZOO_MEMBERS(l, worst));
}

void describe(auto& fields, maybe_const<xray::finding> auto& f) {
  fields(KZOO_MEMBERS(f, what, where, earlier), "first", f.detail, KZOO_MEMBERS(f, count, advice));
}

struct totals {
  const xray::launch& of;
};
void describe(auto& fields, const totals& t) {
  for (const xray::access a : kAllOf<xray::access>) {
    const xray::request_counts sum = t.of.total(a);
    const auto add = [&] {
      fields.object(name_of(a), [&](auto& counts) { describe_counts(counts, a, sum); });
    };
    fields.when(name_of(a), sum.requests != 0, add);
  }
}

void describe(auto& fields, maybe_const<xray::launch> auto& l) {
  fields(KZOO_MEMBERS(l, kernel, grid, block, blocks, blocks_run, barriers, uncounted));
  fields.derived("totals", totals{l});
  fields(KZOO_MEMBERS(l, lines, findings, error));
}

void describe(auto& fields, const xray::analysed& c) {
  fields(KZOO_MEMBERS(c.kernel, plugin, variant), "problem", problem_name(c.problem), "verdict",
         c.found ? "analysed" : name_of(c.verdict), KZOO_MEMBERS(c, reason), "launches",
         c.found.value_or(std::vector<xray::launch>()));
}

void describe(auto& fields, const xray::document& d) {
  fields.schema("kzoo.xray/1");
  fields("runner", this_runner());
  fields.object("experiment", [&](auto& experiment) { experiment("file", d.experiment); });
  fields(KZOO_MEMBERS(d, cells));
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

nlohmann::ordered_json schema() { return storage::record_schema(document()); }

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
