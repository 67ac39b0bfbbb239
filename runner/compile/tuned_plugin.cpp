#include "compile/bare_kernel.hpp"
#include "compile/run_compiler.hpp"
#include "compile/source_plugin.hpp"
#include "os/files.hpp"
#include "os/parallel.hpp"
#include "os/posix.hpp"
#include "os/sha256.hpp"
#include "os/text.hpp"
#include "process/command.hpp"
#include "source/description.hpp"
#include "source/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <random>
#include <system_error>

namespace kzoo::compile {
namespace {

namespace fs = std::filesystem;
using results::tuning_point;

// The outcome of one point.
struct attempt {
  std::optional<compiled> made;
  std::string output;  // the compiler's, where nothing was made
  bool begun = true;
};

attempt compile_point(const fs::path& source, const recipe& toolchain, const build_request& asked,
                      const cache& kept, const tuning_point& point) try {
  return {source_plugin(source, toolchain, asked, kept, point), "", true};
} catch (const does_not_compile& e) {
  return {std::nullopt, e.what(), true};
} catch (const not_begun&) {
  return {std::nullopt, "", false};
}

// Whether a bare kernel needs all of its file.
bool is_whole(const source::description& d, const fs::path& source, const std::string& text,
              const tuning_point& point) {
  return source::kernel_code(unit_of(d, source, point).kernels, source, text, {})
      .front()
      .code.is_whole;
}

std::string joined_text(const std::string& name, const std::vector<std::string>& libraries) {
  std::string text =
      fmt::format("#include <kzoo/joined_plugin.hpp>\nKZOO_JOINED_PLUGIN({}", literal(name));
  for (const std::string& one : libraries) text += ",\n    " + one;
  return text + ");\n";
}

void must(const std::vector<std::string>& command, const fs::path& folder, const fs::path& build) {
  constexpr double kProjectSeconds = 1800;
  const process::command_result result = run_compiler(command, build, kProjectSeconds);
  if (result.code == 0 && !result.hung) return;
  throw does_not_compile(fmt::format("{}error: {} cannot be built: cmake {}", result.output,
                                     folder.string(),
                                     process::how_it_failed(result, kProjectSeconds)));
}

}  // namespace

tuned_plugin make_tuned_plugin(const fs::path& source, const recipe& toolchain,
                               const build_request& asked, const cache& kept,
                               const std::vector<tuning_point>& points,
                               const compile_watch& watch) {
  const double start = steady_seconds();
  std::vector<attempt> attempts(points.size());
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (watch.deadline) std::ranges::shuffle(order, std::mt19937_64{});
  const std::string text = source::read_source(source, source.string());
  const source::description described = source::describe(source, source.string(), text);
  std::mutex mutex;
  std::size_t done = 0;
  build_request request = asked;
  const auto compile = [&](std::size_t i) {
    const std::size_t point = order[i];
    attempt& at = attempts[point];
    std::unique_lock lock(mutex);
    build_request own = request;
    if (i > 0) own.deadline = watch.deadline;
    lock.unlock();
    at = compile_point(source, toolchain, own, kept, points[point]);
    lock.lock();
    if (at.made && at.made->cut.is_cut) request.cut = at.made->cut;
    if (at.begun) watch.progress(++done);
  };
  // A whole program's first point finds out what must be left out.
  const std::size_t alone =
      described.is_bare && !is_whole(described, source, text, points[order[0]]) ? 1 : 0;
  if (alone > 0) compile(0);
  for_each_block(static_cast<std::int64_t>(points.size() - alone),
                 [&](std::int64_t i) { compile(alone + static_cast<std::size_t>(i)); });

  tuned_plugin all;
  std::vector<std::string> libraries;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::string name = results::point_name(points[i]);
    const auto& [made, output, begun] = attempts[i];
    if (!begun) {
      ++all.builds.left_out;
      continue;
    }
    all.builds.points.push_back({name, points[i], "", {}});
    if (!described.is_bare) all.builds.points.back().options = source::definitions(points[i]);
    if (!made) {
      all.builds.points.back().why_not = "does not compile: " + process::first_error_in(output);
      continue;
    }
    all.host_code = all.host_code || made->host_code;
    if (all.output.empty()) all.output = made->output;
    all.builds.from_cache += made->is_new ? 0 : 1;
    all.missing = made->cut.missing;
    // The path relative to another entry of the cache.
    const std::string file = ".." / made->library.lexically_relative(kept.folder());
    libraries.push_back(fmt::format("{{{}, {}}}", literal(name), literal(file)));
  }
  if (libraries.empty()) {
    const auto first = std::ranges::find(attempts, true, &attempt::begun);
    throw does_not_compile(
        fmt::format("{}\nerror: none of {} compiles; this is said of {}, the first", first->output,
                    counted(all.builds.points.size(), "point"), all.builds.points.front().name));
  }
  const std::string name = source.stem().string();
  all.library = generated_plugin(name, joined_text(name, libraries), toolchain, kept);
  all.builds.seconds = steady_seconds() - start;
  return all;
}

std::vector<fs::path> project_plugins(const fs::path& folder, const recipe& toolchain,
                                      const cache& kept) {
  const fs::path source = fs::canonical(folder);
  const fs::path build =
      kept.folder() / ("project-" + sha256(toolchain.package + '\n' + source.string()));
  fs::create_directory(build);
  const process::build_lock lock(build);
  cache::keep_in_use(build);
  if (!fs::exists(build / "build.ninja")) {
    must({"cmake", "-G", "Ninja", "-S", source.string(), "-B", build.string(),
          "-DCMAKE_BUILD_TYPE=Release", "-Dkernel-zoo_DIR=" + toolchain.package},
         folder, build);
  }
  must({"cmake", "--build", build.string()}, folder, build);
  std::error_code fault;
  fs::last_write_time(build, fs::file_time_type::clock::now(), fault);
  return paths_in(build / "plugins" / toolchain.device, ".so");
}

}  // namespace kzoo::compile
