#include "compile/project.hpp"

#include "compile/run_compiler.hpp"
#include "compile/source_plugin.hpp"
#include "os/sha256.hpp"
#include "process/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace kzoo::compile {
namespace {

namespace fs = std::filesystem;

void must(const std::vector<std::string>& command, const fs::path& folder, const fs::path& build) {
  constexpr double kTimeoutSeconds = 1800;
  const process::command_result result = run_compiler(command, build, kTimeoutSeconds);
  if (result.code == 0 && !result.hung) return;
  throw does_not_compile(fmt::format("{}error: {} cannot be built: cmake {}", result.output,
                                     folder.string(),
                                     process::how_it_failed(result, kTimeoutSeconds)));
}

}  // namespace

std::vector<fs::path> project_plugins(const fs::path& folder, const recipe& how,
                                      const cache& kept) {
  const fs::path source = fs::canonical(folder);
  const fs::path build =
      kept.folder() / ("project-" + sha256(how.package + '\n' + source.string()));
  fs::create_directory(build);
  const process::build_lock lock(build);
  cache::use(build);
  if (!fs::exists(build / "build.ninja")) {
    must({"cmake", "-G", "Ninja", "-S", source.string(), "-B", build.string(),
          "-DCMAKE_BUILD_TYPE=Release", "-Dkernel-zoo_DIR=" + how.package},
         folder, build);
  }
  must({"cmake", "--build", build.string()}, folder, build);
  std::error_code fault;
  fs::last_write_time(build, fs::file_time_type::clock::now(), fault);
  std::vector<fs::path> found;
  for (const auto& each : fs::directory_iterator(build / "plugins" / how.device, fault))
    if (each.path().extension() == ".so") found.push_back(each.path());
  std::ranges::sort(found);
  return found;
}

}  // namespace kzoo::compile
