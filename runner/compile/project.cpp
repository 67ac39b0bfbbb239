#include "compile/project.hpp"

#include "compile/source_plugin.hpp"
#include "core/sha256.hpp"
#include "process/command.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

namespace kzoo::compile {
namespace {

namespace fs = std::filesystem;

// Of one build folder at a time: Ninja does not expect a second one.
class folder_lock {
 public:
  explicit folder_lock(const fs::path& folder)
      : fd_(open((folder / "kzoo.lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)) {
    if (fd_ >= 0) flock(fd_, LOCK_EX);
  }
  ~folder_lock() {
    if (fd_ >= 0) close(fd_);
  }
  folder_lock(const folder_lock&) = delete;
  folder_lock& operator=(const folder_lock&) = delete;

 private:
  int fd_;
};

void must(const std::vector<std::string>& command, const fs::path& folder) {
  constexpr double kTimeoutSeconds = 1800;
  const process::command_result result = process::run_command(command, {}, kTimeoutSeconds);
  if (result.code == 0 && !result.hung) return;
  throw does_not_compile(
      fmt::format("{}error: {} cannot be built", result.output, folder.string()));
}

}  // namespace

std::vector<fs::path> project_plugins(const fs::path& folder, const recipe& how,
                                      const cache& kept) {
  const fs::path source = fs::canonical(folder);
  const fs::path build =
      kept.folder() / ("project-" + sha256(how.package + '\n' + source.string()));
  fs::create_directory(build);
  const folder_lock lock(build);
  if (!fs::exists(build / "build.ninja")) {
    must({"cmake", "-G", "Ninja", "-S", source.string(), "-B", build.string(),
          "-DCMAKE_BUILD_TYPE=Release", "-Dkernel-zoo_DIR=" + how.package},
         folder);
  }
  must({"cmake", "--build", build.string()}, folder);
  std::error_code fault;
  fs::last_write_time(build, fs::file_time_type::clock::now(), fault);
  std::vector<fs::path> found;
  for (const auto& each : fs::directory_iterator(build / "plugins" / how.device, fault))
    if (each.path().extension() == ".so") found.push_back(each.path());
  std::ranges::sort(found);
  return found;
}

}  // namespace kzoo::compile
