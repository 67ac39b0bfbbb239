#include "process/spawn.hpp"

#include "os/posix.hpp"
#include "process/confinement.hpp"
#include "process/descendants.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <fstream>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace kzoo::process {
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

// Also closes descriptors that this process inherited or that a library opened.
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
  sigaction(SIGPIPE, &usual, nullptr);  // os/interrupt.hpp ignores SIGPIPE and SIGXFSZ
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
