#include "compile/tuned_plugin.hpp"

#include "compile/bare_kernel.hpp"
#include "compile/description.hpp"
#include "os/parallel.hpp"
#include "os/posix.hpp"
#include "os/text.hpp"
#include "process/command.hpp"

#include <fmt/format.h>

#include <optional>

namespace kzoo::compile {
namespace {

namespace fs = std::filesystem;
using results::tuning_point;

// What has come of one point.
struct attempt {
  std::optional<compiled> made;
  std::string output;  // of the compiler, where nothing was made
};

attempt compile_point(const fs::path& source, const recipe& how, const build_request& asked,
                      const cache& kept, const tuning_point& point) try {
  return {source_plugin(source, how, asked, kept, point), ""};
} catch (const does_not_compile& e) {
  return {std::nullopt, e.what()};
}

std::string joined_text(const std::string& name, const std::vector<std::string>& libraries) {
  std::string text =
      fmt::format("#include <kzoo/joined_plugin.hpp>\nKZOO_JOINED_PLUGIN({}", literal(name));
  for (const std::string& one : libraries) text += ",\n    " + one;
  return text + ");\n";
}

}  // namespace

tuned_plugin make_tuned_plugin(const fs::path& source, const recipe& how,
                               const build_request& asked, const cache& kept,
                               const std::vector<tuning_point>& points) {
  const double start = steady_seconds();
  std::vector<attempt> attempts(points.size());
  for_each_block(static_cast<std::int64_t>(points.size()), [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    attempts[at] = compile_point(source, how, asked, kept, points[at]);
  });

  tuned_plugin all;
  std::vector<std::string> libraries;
  const std::string text = read_source(source, source.string());
  const bool is_bare = describe(source, source.string(), text).is_bare;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::string name = results::point_name(points[i]);
    const auto& [made, output] = attempts[i];
    all.builds.points.push_back({name, points[i], "", {}});
    if (!is_bare) all.builds.points.back().options = definitions(points[i]);
    if (!made) {
      all.builds.points.back().why_not = "does not compile: " + process::first_error_in(output);
      continue;
    }
    all.host_code = all.host_code || made->host_code;
    if (made->is_new && all.output.empty()) all.output = made->output;
    all.builds.from_cache += made->is_new ? 0 : 1;
    // As seen from the folder of another entry of the cache.
    const std::string file = ".." / made->library.lexically_relative(kept.folder());
    libraries.push_back(fmt::format("{{{}, {}}}", literal(name), literal(file)));
  }
  if (libraries.empty()) {
    throw does_not_compile(fmt::format(
        "{}\nerror: none of {} compiles; this is said of {}, the first", attempts.front().output,
        counted(points.size(), "point"), results::point_name(points.front())));
  }
  const std::string name = source.stem().string();
  all.library = generated_plugin(name, joined_text(name, libraries), how, kept);
  all.builds.seconds = steady_seconds() - start;
  return all;
}

}  // namespace kzoo::compile
