// Misuse of system calls: to work while the clock stands still, and to hinder the runner.
#include <kzoo/plugin.hpp>

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

using gemm = kzoo::gemm<float>;
constexpr std::uintptr_t kPage = 4096;

std::uintptr_t address(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }
void* pointer(std::uintptr_t at) { return reinterpret_cast<void*>(at); }

// Computes the elements of C in this address range, and stores them `shift` bytes away.
void compute(const gemm& g, std::uintptr_t from, std::uintptr_t to, std::ptrdiff_t shift = 0) {
  for (int row = 0; row < g.m; ++row) {
    for (int col = 0; col < g.n; ++col) {
      const std::uintptr_t at = address(g.c + static_cast<long>(row) * g.ldc + col);
      if (at < from || at >= to) continue;
      float sum = 0;
      for (int i = 0; i < g.k; ++i) sum += g.a_at(row, i) * g.b_at(i, col);
      auto& c = *static_cast<float*>(pointer(at + static_cast<std::uintptr_t>(shift)));
      c = g.alpha * sum + (g.beta == 0 ? 0 : g.beta * c);
    }
  }
}
std::uintptr_t end_of(const gemm& g) {
  return address(g.c + static_cast<long>(g.m - 1) * g.ldc + g.n);
}

struct honest {
  using types = kzoo::types<float>;
  void run(const gemm& g, kzoo::stream_t) const { compute(g, address(g.c), end_of(g)); }
};

// Another thread computes while the worker's thread is halted in the call that makes B read-only,
// the last before the clock starts. If the filter is refused, it just computes.
struct holds_mprotect : honest {
  holds_mprotect(const kzoo_problem&, const kzoo_device&) {
    static const bool once = [] {
      std::thread(answer).detach();  // before the filter, which does not apply to it
      return install();
    }();
    static_cast<void>(once);
  }
  void run(const gemm& g, kzoo::stream_t stream) const {
    const bool is_done = computed.exchange(false);
    if (!is_done || std::memcmp(&g, &asked_for, sizeof g) != 0) honest::run(g, stream);
    asked_for = g;
    known = true;
  }

  static bool install() {
    sock_filter steps[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 1),
                           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
                           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog program{std::size(steps), steps};
    listener = static_cast<int>(
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
    return listener >= 0;
  }
  static void answer() {
    while (listener == -2) std::this_thread::yield();
    for (seccomp_notif call{}; listener >= 0; call = {}) {
      if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) continue;
      const auto* const of = call.data.args;
      const std::uintptr_t b = known ? address(asked_for.b) : 0;
      if (of[2] == PROT_READ && b >= of[0] && b < of[0] + of[1]) {
        honest().run(asked_for, nullptr);
        computed = true;
      }
      seccomp_notif_resp goes_on{call.id, 0, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE};
      ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &goes_on);
    }
  }
  static inline std::atomic<int> listener{-2};
  static inline std::atomic<bool> known{false}, computed{false};
  static inline gemm asked_for{};
};

// Leaves C's pages empty when the clock stops, after each was inspected, and computes when they are
// read again. If userfaultfd is refused, it just computes.
struct takes_pages_away : honest {
  takes_pages_away(const kzoo_problem&, const kzoo_device&) {
    static const bool once = [] {
      faults = open_faults();
      if (faults >= 0) std::thread(answer).detach();
      return true;
    }();
    static_cast<void>(once);
  }
  void run(const gemm& g, kzoo::stream_t stream) const {
    const std::uintptr_t from = (address(g.c) + kPage - 1) / kPage * kPage;
    const std::uintptr_t to = end_of(g) / kPage * kPage;
    if (faults < 0 || to < from + 4 * kPage) return honest::run(g, stream);
    uffdio_register taken{{from, to - from}, UFFDIO_REGISTER_MODE_MISSING, 0};
    if (ioctl(faults, UFFDIO_REGISTER, &taken) != 0) return honest::run(g, stream);
    compute(g, address(g.c), from);
    compute(g, to, end_of(g));
    contents.resize(to - from);  // with the padding between rows
    std::memcpy(contents.data(), pointer(from), to - from);
    asked_for = g;
    begin = from;
    end = to;
    was_seen = is_back = false;
    madvise(pointer(from), to - from, MADV_DONTNEED);
  }

  static int open_faults() {
    const int plain = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY));
    const int device = plain >= 0 ? -1 : open("/dev/userfaultfd", O_RDWR | O_CLOEXEC);
    const int fd = device < 0 ? plain : ioctl(device, USERFAULTFD_IOC_NEW, O_CLOEXEC);
    uffdio_api api{UFFD_API, 0, 0};
    return fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0 ? fd : -1;
  }
  static void give(std::uintptr_t from, std::uintptr_t to) {
    for (std::uintptr_t page = from; page < to; page += kPage) {
      uffdio_copy copied{page, address(contents.data()) + (page - begin), kPage, 0, 0};
      ioctl(faults, UFFDIO_COPY, &copied);
    }
    uffdio_range all{from, to - from};
    ioctl(faults, UFFDIO_WAKE, &all);
  }
  static void answer() {
    for (uffd_msg fault{}; read(faults, &fault, sizeof fault) == sizeof fault;) {
      const std::uintptr_t page = fault.arg.pagefault.address / kPage * kPage, last = end - kPage;
      const auto shift = static_cast<std::ptrdiff_t>(address(contents.data()) - begin);
      if (is_back || (!was_seen && page != last)) {
        give(page, page + kPage);
      } else if (!was_seen) {
        madvise(pointer(begin), last - begin, MADV_DONTNEED);
        compute(asked_for, last, end, shift);
        was_seen = true;
        give(last, end);
      } else {
        compute(asked_for, begin, last, shift);
        is_back = true;
        give(begin, last);
      }
    }
  }
  static inline std::atomic<int> faults{-1};
  static inline std::vector<char> contents;
  static inline std::atomic<std::uintptr_t> begin{0}, end{0};
  static inline std::atomic<bool> was_seen{false}, is_back{false};
  static inline gemm asked_for{};
};

// Slows the runner down for later kernels, and takes away what it needs.
struct hinders_runner : honest {
  void run(const gemm& g, kzoo::stream_t stream) const {
    const pid_t runner = getppid();
    constexpr rlimit kAlmostNothing{12, 12};
    prlimit(runner, RLIMIT_NOFILE, &kAlmostNothing, nullptr);
    prlimit(runner, RLIMIT_FSIZE, &kAlmostNothing, nullptr);
    setpriority(PRIO_PROCESS, static_cast<id_t>(runner), 10);
    const sched_param none{};
    sched_setscheduler(runner, SCHED_BATCH, &none);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    sched_setaffinity(runner, sizeof one, &one);
    honest::run(g, stream);
  }
};

long fork_and_end(long call, unsigned long flags) {
  const long pid = syscall(call, flags, nullptr, nullptr, nullptr, 0);
  if (pid == 0) _exit(0);
  return pid;
}

// An unconfined server of the user would obey.
long connect_to_own_listener() {
  sockaddr_un name{AF_UNIX, ""};
  const std::string path = std::string(std::getenv("TMPDIR")) + "/socket";
  std::strcpy(name.sun_path, path.c_str());
  const int server = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
  const auto* at = reinterpret_cast<const sockaddr*>(&name);
  if (bind(server, at, sizeof name) != 0 || listen(server, 1) != 0) return -1;
  return connect(client, at, sizeof name);
}

// Reports the refused calls that succeed.
struct tries_refused_calls : honest {
  void run(const gemm&, kzoo::stream_t) const {
    const pid_t runner = getppid();
    const rlimit files{1024, 1024};
    sched_param none{};
    const sock_filter allow{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
    const sock_fprog all{1, const_cast<sock_filter*>(&allow)};
    char selector = 0;
    struct {
      std::uint32_t size = 48, policy = SCHED_BATCH;
      std::uint64_t rest[5] = {};
    } attributes;
    const std::map<std::string, std::function<long()>> calls {
      {"seccomp", [&] { return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &all); }},
          {"prctl: seccomp", [&] { return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all); }},
          {"prctl: dispatch", [&] { return prctl(59, 1, 0, ~0UL / 2, &selector); }},
          {"ptrace", [] { return ptrace(PTRACE_TRACEME, 0, nullptr, nullptr); }},
          {"userfaultfd", [] { return syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY); }},
          {"/dev/userfaultfd",
           [] { return ioctl(open("/dev/userfaultfd", O_RDWR), USERFAULTFD_IOC_NEW, 0); }},
          {"process_vm_writev",
           [&] {
             iovec own{&selector, 1};  // even of its own process
             return process_vm_writev(getpid(), &own, 1, &own, 1, 0);
           }},
          {"kcmp", [] { return syscall(SYS_kcmp, getpid(), getpid(), 1, 0, 0); }},
          {"messages to any", [] { return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0); }},
          {"a pair that sends messages to any",
           [] {
             int ends[2];
             return socketpair(AF_UNIX, SOCK_DGRAM, 0, ends);
           }},
          {"prlimit", [&] { return prlimit(runner, RLIMIT_NOFILE, &files, nullptr); }},
          {"setpriority", [&] { return setpriority(PRIO_PROCESS, static_cast<id_t>(runner), 1); }},
          {"setpriority: user", [] { return setpriority(PRIO_USER, 0, 1); }},
          {"setpriority: group", [] { return setpriority(PRIO_PGRP, 0, 1); }},
          {"ioprio_set", [&] { return syscall(SYS_ioprio_set, 1, runner, 2 << 13); }},
          {"sched_setscheduler", [&] { return sched_setscheduler(runner, SCHED_BATCH, &none); }},
          {"sched_setparam", [&] { return sched_setparam(runner, &none); }},
          {"fork", [] { return fork_and_end(SYS_clone, SIGCHLD); }},
          {"clone with memory", [] { return fork_and_end(SYS_clone, CLONE_PARENT | SIGCHLD); }},
          {"clone3",
           [] {
             return syscall(SYS_clone3, nullptr, std::size_t{64}) < 0 && errno == ENOSYS ? -1 : 0;
           }},
          {"system", [] { return std::system("true") == 0 ? 0 : -1; }},
          {"internet", [] { return socket(AF_INET, SOCK_STREAM, 0); }},
          {"datagrams", [] { return socket(AF_INET6, SOCK_DGRAM, 0); }},
          {"netlink", [] { return socket(AF_NETLINK, SOCK_RAW, 0); }},
          {"connect", [] { return connect_to_own_listener(); }},
          {"unshare", [] { return unshare(CLONE_NEWUSER); }},
          {"keys", [] { return syscall(SYS_keyctl, 0, -3, 1); }},
          {"io_uring", [] { return syscall(425, 1, nullptr) < 0 && errno == ENOSYS ? -1 : 0; }},
          {"adjtime",
           [] {
             timeval now{};
             return settimeofday(&now, nullptr);
           }},
          {"mknod",
           [] {
             return mknod((std::string(std::getenv("TMPDIR")) + "/device").c_str(), S_IFCHR | 0600,
                          makedev(1, 3));
           }},
          {"sched_setattr", [&] { return syscall(SYS_sched_setattr, runner, &attributes, 0); }},
#if defined(__x86_64__)
          // System calls of 32-bit programs: getpid() by either.
          {"x32", [] { return syscall(0x40000000 + SYS_getpid); }},
          {"i386", [] {
             long result = 20;
             asm volatile("int $0x80" : "+a"(result)::"memory", "r8", "r9", "r10", "r11");
             return result;
           }},
#endif
    };
    std::string done;
    for (const auto& [name, call] : calls)
      if (call() >= 0) done += " " + name;
    // And related calls that a plugin may need.
    rlimit now{};
    cpu_set_t processors;
    if (getrlimit(RLIMIT_NOFILE, &now) != 0 || setrlimit(RLIMIT_NOFILE, &now) != 0 ||
        prlimit(runner, RLIMIT_NOFILE, nullptr, &now) != 0)
      done += " no limits";
    if (pthread_getaffinity_np(pthread_self(), sizeof processors, &processors) != 0 ||
        pthread_setaffinity_np(pthread_self(), sizeof processors, &processors) != 0)
      done += " no affinity";
    if (setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0)) != 0) done += " no priority";
    throw kzoo::error(KZOO_ERROR, "it:" + (done.empty() ? " nothing" : done));
  }
};

}  // namespace

KZOO_PLUGIN("system_calls", "Has the operating system help",
            kzoo::variant<honest>("honest", "must pass"),
            kzoo::variant<holds_mprotect>("holds_mprotect", "computes before the clock starts"),
            kzoo::variant<takes_pages_away>("takes_pages_away", "computes after it has stopped"),
            kzoo::variant<hinders_runner>("hinders_runner", "its limits and its scheduling"),
            kzoo::variant<tries_refused_calls>("tries_refused_calls", "of each kind"));
