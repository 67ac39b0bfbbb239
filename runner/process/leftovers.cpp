#include "process/leftovers.hpp"

#include "process/descendants.hpp"

#include <fmt/format.h>

#include <sys/shm.h>
#include <unistd.h>

#include <fstream>
#include <optional>

namespace kzoo::process {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "/dev/shm";

std::optional<struct stat> status_of(const fs::path& file) {
  struct stat status {};
  return stat(file.c_str(), &status) == 0 ? std::optional(status) : std::nullopt;
}

timespec time_of_change() {
  const auto folder = status_of(kFolder);
  return folder ? folder->st_mtim : timespec{};
}

bool same(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

void remove_system_v(const std::set<pid_t>& makers, std::time_t started) {
  shmid_ds all{};
  const int last = shmctl(0, SHM_INFO, &all);
  for (int i = 0; i <= last; ++i) {
    shmid_ds one{};
    const int id = shmctl(i, SHM_STAT, &one);
    if (id >= 0 && makers.contains(one.shm_cpid) && one.shm_ctime >= started)
      shmctl(id, IPC_RMID, nullptr);
  }
}

}  // namespace

leftovers::leftovers() : started_(std::time(nullptr)), changed_(time_of_change()) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(kFolder, ignored)) {
    if (const auto status = status_of(entry.path()))
      before_.insert({status->st_dev, status->st_ino});
  }
}

void leftovers::look(pid_t process) {
  makers_.insert(process);
  for (const pid_t each : descendants::below(process)) makers_.insert(each);
  changed_ = time_of_change();
  for (const pid_t each : makers_) record(each);
}

void leftovers::look_if_changed(pid_t process) {
  if (!same(time_of_change(), changed_)) look(process);
}

void leftovers::record(pid_t process) {
  std::error_code ignored;
  for (const auto& link : fs::directory_iterator(fmt::format("/proc/{}/fd", process), ignored))
    record(fs::read_symlink(link, ignored));
  // "ADDRESSES PERMISSIONS OFFSET DEVICE INODE   PATH"
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  for (std::string line; std::getline(maps, line);) {
    if (const auto path = line.find('/'); path != std::string::npos) record(line.substr(path));
  }
}

void leftovers::record(const fs::path& file) {
  if (file.parent_path() != kFolder) return;
  const auto status = status_of(file);
  if (!status || status->st_uid != getuid()) return;
  const segment found{status->st_dev, status->st_ino};
  if (!before_.contains(found)) of_child_.emplace(found, file.string());
}

void leftovers::remove() {
  for (const auto& [found, name] : of_child_) {
    const auto status = status_of(name);
    if (status && segment{status->st_dev, status->st_ino} == found) unlink(name.c_str());
  }
  remove_system_v(makers_, started_);
}

}  // namespace kzoo::process
