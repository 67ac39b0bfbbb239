#include "process/child.hpp"

#include "process/confinement.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <system_error>
#include <thread>
#include <utility>

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
  for (const fs::path& file : paths_in(kFolder))
    if (const auto status = status_of(file)) before_.insert({status->st_dev, status->st_ino});
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
  for (std::string line; std::getline(maps, line);)
    if (const auto path = line.find('/'); path != std::string::npos) record(line.substr(path));
}

void leftovers::record(const fs::path& file) {
  if (file.parent_path() != kFolder) return;
  const auto status = status_of(file);
  if (!status || status->st_uid != getuid()) return;
  const segment this_segment{status->st_dev, status->st_ino};
  if (!before_.contains(this_segment)) of_child_.emplace(this_segment, file.string());
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
             const std::vector<given_descriptor>& given, std::vector<std::string> settings) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw_errno("socketpair");
  control_.emplace(ends[0]);
  // Limits how long send() blocks if the child reads nothing.
  const timeval most{kLongestSendSeconds, 0};
  setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
  const descriptor its_end(ends[1]);
  std::vector<given_descriptor> all = given;
  all.insert(all.end(),
             {{its_end.fd(), kControlFd}, {log.fd(), STDOUT_FILENO}, {log.fd(), STDERR_FILENO}});
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

bool child::is_stopped() const { return descendants::has_changed(pid_, WSTOPPED, false); }

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
  const bool ended = descendants::has_changed(pid_, WEXITED, false);
  const std::optional<int> status = descendants::end(pid_);
  leftovers_.remove();
  temporary_.reset();
  pidfd_ = {};
  pid_ = 0;
  return ended ? status : std::nullopt;
}

namespace {

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

// The machine's number of threads, from "0.12 0.08 0.03 1/345 6789".
std::size_t threads_now() {
  std::ifstream file("/proc/loadavg");
  std::string word;
  for (int i = 0; i < 4; ++i) file >> word;
  return std::strtoul(word.c_str() + std::min(word.find('/') + 1, word.size()), nullptr, 10);
}

struct limit {
  decltype(RLIMIT_CORE) what;
  rlim_t most;
};

std::vector<limit> limits_of(const confinement& c) {
  // RLIMIT_NPROC counts the user's threads. Counting all existing threads as the user's stops only
  // a program that starts threads without end.
  constexpr rlim_t kMoreThreads = 16384;
  // 1 instead of 0: a limit of 0 does not stop a core dump that is piped to a program, see core(5).
  std::vector<limit> all{{RLIMIT_CORE, 1}, {RLIMIT_NPROC, threads_now() + kMoreThreads}};
  if (c.data_bytes != 0) all.push_back({RLIMIT_DATA, c.data_bytes});
  if (c.file_bytes != 0) all.push_back({RLIMIT_FSIZE, c.file_bytes});
  if (c.cpu_seconds != 0) all.push_back({RLIMIT_CPU, static_cast<rlim_t>(c.cpu_seconds) + 1});
  for (limit& l : all) {
    rlimit ours{};
    if (getrlimit(l.what, &ours) == 0) l.most = std::min(l.most, ours.rlim_max);
  }
  return all;
}

// A child between clone() and execvpe(). It shares this process's memory while the calling thread
// waits. Therefore it may only make system calls on this data.
struct beginning {
  const char* program;
  char* const* argv;
  char* const* variables;
  sigset_t signals;  // the mask to restore
  std::vector<std::pair<int, int>> descriptors;
  int first_closed;

  bool is_confined;
  std::vector<limit> limits;
  bool drops_privileges, longer_writes_fail;
  int rules;
  sock_fprog filter;

  int error = 0;
  bool is_filtered = false;
};

// Keeps the two capabilities by which root opens other users' files: Landlock limits file access.
void drop_privileges() {
  constexpr std::uint32_t kKept = 1 << CAP_DAC_OVERRIDE | 1 << CAP_DAC_READ_SEARCH;
  for (int each = 0; prctl(PR_CAPBSET_READ, each, 0, 0, 0) >= 0; ++each)
    if (each >= 32 || (kKept >> each & 1) == 0) prctl(PR_CAPBSET_DROP, each, 0, 0, 0);
  __user_cap_header_struct self{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> has{};
  if (syscall(SYS_capget, &self, has.data()) != 0) return;
  for (std::size_t i = 0; i < has.size(); ++i) {
    const std::uint32_t kept = i == 0 ? kKept : 0;
    has[i] = {has[i].effective & kept, has[i].permitted & kept, 0};
  }
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  syscall(SYS_capset, &self, has.data());
}

bool confine(beginning& b) {
  for (const limit& l : b.limits) {
    rlimit both{l.most, l.most};
    // The soft limit sends SIGXCPU, the hard limit SIGKILL.
    if (l.what == RLIMIT_CPU && l.most > 1) --both.rlim_cur;
    setrlimit(l.what, &both);
  }
  if (b.drops_privileges) drop_privileges();
  // Required below: programs started from here gain no rights by setuid.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  if (b.rules >= 0) {
    const int kept = landlock::obey(b.rules);
    if (kept < 0 || dup2(kept, b.first_closed++) < 0) return false;
  }
  // Without SPEC_ALLOW, older kernels slow the whole process down against Spectre. The call fails
  // inside a confined process, whose filter already applies.
  b.is_filtered = b.filter.len > 0 && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                              SECCOMP_FILTER_FLAG_SPEC_ALLOW, &b.filter) == 0;
  return true;
}

bool take_descriptors(const beginning& b) {
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0) return false;
  for (const auto& [from, to] : b.descriptors)
    if (dup2(from, to) < 0) return false;
  return true;
}

// Closes all descriptors from `first` on, also inherited ones and those of libraries.
void close_from(int first) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, first, ~0u, 0) == 0) return;
#endif
  rlimit most{};
  getrlimit(RLIMIT_NOFILE, &most);
  for (int fd = first; static_cast<rlim_t>(fd) < most.rlim_max; ++fd) close(fd);
}

int become(void* of_parent) {
  auto& b = *static_cast<beginning*>(of_parent);
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  sigaction(SIGPIPE, &usual, nullptr);  // os/posix.hpp ignores SIGPIPE and SIGXFSZ
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, b.longer_writes_fail ? &ignored : &usual, nullptr);
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) == 0 && now.sa_handler != SIG_IGN)
      sigaction(number, &usual, nullptr);
  }
  setsid();
  if (take_descriptors(b) && (!b.is_confined || confine(b))) {
    close_from(b.first_closed);
    sigprocmask(SIG_SETMASK, &b.signals, nullptr);
    execvpe(b.program, b.argv, b.variables);
  }
  b.error = errno;
  _exit(EXIT_FAILURE);
}

// The calling thread waits until the child has called execvpe() or failed, as in posix_spawn().
pid_t start(beginning& b) {
  constexpr std::size_t kStack = std::size_t{256} << 10;
  std::vector<std::byte> stack(kStack);
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &b.signals);
  const pid_t pid =
      clone(become, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK | SIGCHLD, &b);
  if (pid < 0) b.error = errno;
  pthread_sigmask(SIG_SETMASK, &b.signals, nullptr);
  return pid;
}

}  // namespace

std::size_t enough_processes() {
  return 64 + std::size_t{16} * std::thread::hardware_concurrency();
}

pid_t spawn(const std::string& program, std::vector<std::string> argv,
            std::span<const given_descriptor> descriptors, const std::vector<std::string>& settings,
            const confinement* confined) {
  // Duplicates all descriptors above all targets first, so that no dup2 overwrites a source.
  constexpr int kAboveTargets = 16;
  std::vector<descriptor> raised;
  beginning b{};
  b.first_closed = STDERR_FILENO + 1;
  for (const given_descriptor& d : descriptors) {
    raised.emplace_back(fcntl(d.from, F_DUPFD_CLOEXEC, kAboveTargets));
    if (raised.back().fd() < 0) throw_errno("duplicating a descriptor");
    b.descriptors.emplace_back(raised.back().fd(), d.to);
    b.first_closed = std::max(b.first_closed, d.to + 1);
  }
  std::vector<std::string> variables = confined == nullptr
                                           ? whole_environment(settings)
                                           : clean_environment(settings, confined->variables);
  const auto words = pointers(argv), environment = pointers(variables);
  b.program = program.c_str();
  b.argv = words.data();
  b.variables = environment.data();
  descriptor rules;
  std::vector<sock_filter> filter;
  if (confined != nullptr) {
    b.is_confined = true;
    b.limits = limits_of(*confined);
    b.drops_privileges = !confined->privileged;
    b.longer_writes_fail = confined->longer_writes_fail;
    const descriptor made = landlock::rules(*confined);
    if (made.fd() >= 0) rules = descriptor(fcntl(made.fd(), F_DUPFD_CLOEXEC, kAboveTargets));
    filter = refused_calls(*confined);
    b.filter = {static_cast<unsigned short>(filter.size()), filter.data()};
  }
  b.rules = rules.fd();
  const auto held = descendants::lock();
  descendants::adopt();
  const pid_t pid = start(b);
  if (b.error != 0) {
    if (pid > 0) waitpid(pid, nullptr, 0);
    throw std::system_error(b.error, std::generic_category(), "starting " + argv.front());
  }
  descendants::track(pid, b.is_filtered && confined->most_processes == 0);
  return pid;
}

}  // namespace kzoo::process
