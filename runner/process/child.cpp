#include "process/child.hpp"

#include "os/interrupt.hpp"
#include "os/posix.hpp"
#include "process/confinement.hpp"
#include "process/descendants.hpp"
#include "process/spawn.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <vector>

// glibc 2.36 declares it without C linkage.
extern "C" {
#include <sys/pidfd.h>
}

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

namespace {

constexpr int kLongestSendSeconds = 30;

bool poll_until(std::span<pollfd> watched, double seconds) {
  using namespace std::chrono;
  const auto deadline = steady_clock::now() + duration<double>(seconds);
  for (;;) {
    const auto left = ceil<milliseconds>(deadline - steady_clock::now()).count();
    constexpr std::int64_t kHour = 3600000;  // poll() takes an int of milliseconds
    const int ready = poll(watched.data(), watched.size(),
                           static_cast<int>(std::clamp<std::int64_t>(left, 0, kHour)));
    if (ready > 0) return true;
    if (ready == 0 && left <= 0) return false;
    if (ready < 0 && errno != EINTR) throw_errno("poll");
  }
}

}  // namespace

void follow_parent() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGTERM, SIG_IGN);
}

child::child(std::vector<std::string> arguments, const output_log& log, const confinement* confined,
             const std::vector<given_descriptor>& given, const std::string& setting) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw_errno("socketpair");
  }
  control_.emplace(ends[0]);
  // Limits how long send() blocks if the child reads nothing.
  const timeval most{kLongestSendSeconds, 0};
  setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
  const descriptor its_end(ends[1]);
  std::vector<given_descriptor> all = given;
  all.insert(all.end(),
             {{its_end.fd(), kControlFd}, {log.fd(), STDOUT_FILENO}, {log.fd(), STDERR_FILENO}});
  std::vector<std::string> settings;
  if (!setting.empty()) settings.push_back(setting);
  // A profiler exchanges files in the common temporary folder.
  std::filesystem::path own = temporary_files();
  if (!has_profiler()) settings.push_back("TMPDIR=" + (own = temporary_.emplace().path()).string());
  arguments.insert(arguments.begin(), "runner");
  std::optional<confinement> with_own;
  if (confined != nullptr) with_own.emplace(*confined).writable.push_back(own);
  pid_ = spawn("/proc/self/exe", arguments, all, settings, with_own ? &*with_own : nullptr);
  pidfd_ = descriptor(pidfd_open(pid_, 0));
  if (pidfd_.fd() >= 0) return;
  const int error = errno;
  end();
  throw_errno("pidfd_open", error);
}

child::~child() {
  if (pid_ > 0) end();
}

bool child::hold() { return descendants::hold(pid_); }
bool child::stood_still() const { return descendants::stood_still(pid_); }
void child::resume() { descendants::resume(pid_); }

bool child::is_stopped() const {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid_;
}

child::event child::wait(double seconds) {
  std::array<pollfd, 3> watched{pollfd{control_->fd(), POLLIN, 0}, pollfd{pidfd_.fd(), POLLIN, 0},
                                pollfd{interrupt::fd(), POLLIN, 0}};
  if (!poll_until(watched, seconds)) return event::deadline;
  interrupt::check();
  return watched[0].revents != 0 ? event::message : event::ended;
}

bool child::wait_for_end(double seconds) {
  std::array<pollfd, 1> watched{pollfd{pidfd_.fd(), POLLIN, 0}};
  return poll_until(watched, seconds);
}

void child::kill() {
  leftovers_.look(pid_);
  ::kill(pid_, SIGKILL);
}

std::optional<int> child::end() {
  leftovers_.look(pid_);
  siginfo_t info{};
  const bool ended =
      waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      info.si_pid == pid_;
  const std::optional<int> status = descendants::end(pid_);
  leftovers_.remove();
  temporary_.reset();
  pidfd_ = {};
  pid_ = 0;
  return ended ? status : std::nullopt;
}

}  // namespace kzoo::process
