#include "process/confinement.hpp"

#include "os/files.hpp"
#include "os/places.hpp"
#include "os/text.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <system_error>
#include <utility>

extern char** environ;

namespace kzoo::process::landlock {
namespace {

namespace fs = std::filesystem;

// From linux/landlock.h of newer kernels, with the same numbers on every architecture.
constexpr long kCreate = 444, kAddRule = 445, kRestrict = 446;
constexpr std::uint32_t kAskVersion = 1;
constexpr int kBeneath = 1;

struct ruleset {
  std::uint64_t handled_fs, handled_net, scoped;
};
struct __attribute__((packed)) beneath {
  std::uint64_t allowed;
  std::int32_t folder;
};

constexpr std::uint64_t kWriteFile = 1 << 1, kReadFile = 1 << 2;
constexpr std::uint64_t kRemoveAndMake = 0x1ff0;  // bits 4 to 12: remove or make files of any kind
constexpr std::uint64_t kMakeDevices = 1 << 6 | 1 << 11;  // as root could
constexpr std::uint64_t kRefer = 1 << 13;                 // since version 2
constexpr std::uint64_t kTruncate = 1 << 14;              // since version 3
constexpr std::uint64_t kControlDevice = 1 << 15;         // ioctl(), since version 5
constexpr std::uint64_t kSignals = 1 << 1;                // a scope, since version 6

// Masks rights that older kernels do not know.
constexpr std::uint64_t known_to(long version) {
  return ~((version < 2 ? kRefer : 0) | (version < 3 ? kTruncate : 0) |
           (version < 5 ? kControlDevice : 0));
}
constexpr std::uint64_t kChange = kWriteFile | kRemoveAndMake | kRefer | kTruncate;
// Rights that apply to something other than a folder.
constexpr std::uint64_t kForFiles = kWriteFile | kReadFile | kTruncate | kControlDevice;

class rule_list {
 public:
  rule_list(long version, std::uint64_t rights) {
    const ruleset wanted{rights & known_to(version), 0, version >= 6 ? kSignals : 0};
    // An older kernel takes a shorter structure.
    const std::size_t size = version >= 6 ? sizeof wanted : sizeof wanted.handled_fs;
    handled_ = wanted.handled_fs;
    fd_ = descriptor(static_cast<int>(syscall(kCreate, &wanted, size, 0)));
  }

  void allow(const fs::path& place, std::uint64_t rights) {
    const descriptor opened(open(place.c_str(), O_PATH | O_CLOEXEC));
    if (opened.fd() < 0) return;  // does not exist
    std::error_code ignored;
    if (!fs::is_directory(place, ignored)) rights &= kForFiles;
    const beneath rule{rights & handled_, opened.fd()};
    syscall(kAddRule, fd_.fd(), kBeneath, &rule, 0);
  }

  descriptor take() { return std::move(fd_); }

 private:
  std::uint64_t handled_ = 0;
  descriptor fd_;
};

// Whether a device in /dev is memory, random numbers, or a GPU as NVIDIA's drivers name it on
// servers, under Windows or on Jetson.
bool is_harmless(std::string_view name) {
  constexpr std::array<std::string_view, 7> kNames{"null",    "zero", "full", "random",
                                                   "urandom", "dxg",  "nvmap"};
  constexpr std::array<std::string_view, 3> kPrefixes{"nvidia", "nvhost", "nvgpu"};
  return std::ranges::find(kNames, name) != kNames.end() ||
         std::ranges::any_of(kPrefixes, [&](std::string_view p) { return name.starts_with(p); });
}

}  // namespace

descriptor rules(const confinement& c) {
  const long version = syscall(kCreate, nullptr, std::size_t{0}, kAskVersion);
  if (version < 1) return {};
  // Rules only add rights. Allowing each folder of / except /dev by name makes /dev unreadable.
  const std::vector<fs::path> all = paths_in("/");
  rule_list list(version, kChange | kControlDevice | (all.empty() ? 0 : kReadFile));
  for (const fs::path& place : all)
    if (place != "/dev") list.allow(place, kReadFile);
  for (const fs::path& device : paths_in("/dev"))
    if (is_harmless(device.filename().string()))
      list.allow(device, kWriteFile | kReadFile | kTruncate | kControlDevice);
  std::vector<fs::path> writable = c.writable;
  writable.push_back(mps_folder());
  if (c.shares_memory) writable.emplace_back("/dev/shm");
  for (const fs::path& place : writable) list.allow(place, (kChange & ~kMakeDevices) | kReadFile);
  if (c.writes_in_proc) list.allow("/proc", kWriteFile | kTruncate | kReadFile);
  return list.take();
}

int obey(int rules) {
  const int own = open("/proc/self", O_PATH | O_DIRECTORY);
  const beneath rule{kWriteFile | kTruncate, own};
  if (syscall(kAddRule, rules, kBeneath, &rule, 0) != 0) {  // Landlock before version 3 lacks
                                                            // kTruncate
    const beneath older{kWriteFile, own};
    syscall(kAddRule, rules, kBeneath, &older, 0);
  }
  return syscall(kRestrict, rules, 0) == 0 ? own : -1;
}

}  // namespace kzoo::process::landlock

namespace kzoo::process {
namespace {

constexpr std::array<std::string_view, 30> kUsual{
    // Programs, and where they find files.
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "LD_*", "TZ",
    // Languages of messages, formats of numbers.
    "LANG", "LANGUAGE", "LC_*",
    // CUDA, its libraries and its tools.
    "CUDA_*", "CUBLAS_*", "CUBLASLT_*", "NVIDIA_*",
    // Number and placement of threads in host libraries.
    "OMP_*", "GOMP_*", "KMP_*", "OPENBLAS_*", "GOTO_*", "MKL_*", "BLIS_*", "MALLOC_*",
    "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS",
    // Settings between processes of this program.
    "KZOO_*"};

constexpr std::array<std::string_view, 5> kOfProfilers{"NSYS_*", "NVTX_*", "QUADD_*", "OSRT_*",
                                                       "NV_*"};
constexpr std::array<std::string_view, 4> kSecrets{"TOKEN", "SECRET", "PASSWORD", "KEY"};

bool matches(std::string_view name, std::string_view pattern) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  if (pattern.starts_with('*')) return name.ends_with(pattern.substr(1));
  return name == pattern;
}

bool matches_any(std::string_view name, const auto& patterns) {
  return std::ranges::any_of(patterns,
                             [&](std::string_view pattern) { return matches(name, pattern); });
}

bool is_secret(std::string_view name) {
  return std::ranges::any_of(
      kSecrets, [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

std::vector<std::string_view> passed_by_user() {
  const char* list = std::getenv("KZOO_PASS");
  return parts_of(list == nullptr ? "" : list, ',');
}

std::vector<std::string> chosen(const std::vector<std::string>& settings, const auto& is_chosen) {
  std::vector<std::string> all = settings;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('='));
    const bool is_replaced = std::ranges::any_of(
        settings, [&](std::string_view s) { return s.substr(0, s.find('=')) == name; });
    if (!is_replaced && is_chosen(name)) all.emplace_back(text);
  }
  return all;
}

}  // namespace

std::vector<std::string> whole_environment(const std::vector<std::string>& settings) {
  return chosen(settings, [](std::string_view) { return true; });
}

std::vector<std::string> clean_environment(const std::vector<std::string>& settings,
                                           const std::vector<std::string_view>& variables) {
  const std::vector<std::string_view> asked = passed_by_user();
  return chosen(settings, [&](std::string_view name) {
    if (std::ranges::find(asked, name) != asked.end()) return true;
    if (is_secret(name)) return false;
    return matches_any(name, kUsual) || matches_any(name, variables) || matches_any(name, asked) ||
           (has_profiler() && matches_any(name, kOfProfilers));
  });
}

bool has_profiler() {
  return std::getenv("NSYS_PROFILING_SESSION_ID") != nullptr ||
         std::getenv("NVTX_INJECTION64_PATH") != nullptr;
}

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kFormat = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kFormat = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kFormat = 0;
#endif
constexpr std::uint32_t kOtherNumbers = 0x40000000;  // x32's system calls, on x86-64
// Missing in headers of older distributions; the same on every architecture.
constexpr std::uint32_t kSetSyscallUserDispatch = 59;  // an option of prctl()
constexpr std::uint32_t kNewUserfaultfd = 0xaa00;      // a request of ioctl() on /dev/userfaultfd
constexpr std::uint32_t kIoprioWhoProcess = 1;
constexpr long kIoUringSetup = 425, kClone3 = 435, kPidfdGetfd = 438, kProcessMadvise = 440;

// A condition on an argument. Except for pointers, the kernel reads only the lower half.
struct condition {
  enum test_kind { is, is_not, is_given, has, lacks };
  test_kind test;  // has: any bit of `value`; lacks: all
  std::uint32_t argument;
  std::uint32_t value = 0;
};

struct refusal {
  long call;
  std::vector<condition> if_all{};
  int error = EPERM;
};

std::vector<refusal> refusals(const confinement& c) {
  using enum condition::test_kind;
  std::vector<refusal> all{{SYS_seccomp, {}},
                           {SYS_prctl, {{is, 0, PR_SET_SECCOMP}}},
                           {SYS_prctl, {{is, 0, kSetSyscallUserDispatch}}},
                           {SYS_ptrace, {}},
                           {SYS_process_vm_readv},
                           {SYS_process_vm_writev},
                           {kPidfdGetfd},
                           {kProcessMadvise},
                           {SYS_kcmp},
                           {SYS_userfaultfd, {}},
                           {SYS_ioctl, {{is, 1, kNewUserfaultfd}}},
                           {SYS_prlimit64, {{is_not, 0, 0}, {is_given, 2}}},
                           {SYS_setpriority, {{is_not, 0, PRIO_PROCESS}}},
                           {SYS_setpriority, {{is_not, 1, 0}}},
                           {SYS_ioprio_set, {{is_not, 0, kIoprioWhoProcess}}},
                           {SYS_ioprio_set, {{is_not, 1, 0}}},
                           {SYS_sched_setscheduler, {{is_not, 0, 0}}},
                           {SYS_sched_setparam, {{is_not, 0, 0}}},
                           {SYS_sched_setattr, {{is_not, 0, 0}}},
                           {SYS_unshare},
                           {SYS_setns},
                           {SYS_keyctl},
                           {SYS_add_key},
                           {SYS_request_key},
                           {kIoUringSetup, {}, ENOSYS}};
  if (c.most_processes == 0) {
#ifdef SYS_fork
    all.insert(all.end(), {{SYS_fork}, {SYS_vfork}});
#endif
    all.push_back({SYS_clone, {{lacks, 0, CLONE_THREAD}}});
    all.push_back(
        {kClone3, {}, ENOSYS});  // no filter can read its flags; libraries then use an older call
  }
  if (!c.shares_memory) all.push_back({SYS_shmget});
  if (!c.network) {
    constexpr std::uint32_t kDatagrams = SOCK_DGRAM;  // SOCK_RAW has this bit, too
    static_assert((SOCK_STREAM & kDatagrams) == 0 && (SOCK_SEQPACKET & kDatagrams) == 0);
    all.push_back({SYS_socket, {{is_not, 0, AF_UNIX}}});
    // A datagram socket can send data and descriptors to any other.
    all.push_back({SYS_socket, {{has, 1, kDatagrams}}});
    all.push_back({SYS_socketpair, {{has, 1, kDatagrams}}});
    all.push_back({SYS_sendto, {{is_given, 4}}});
    // CUDA sees the same error where MPS does not run.
    if (!has_mps()) all.push_back({SYS_connect, {}, ECONNREFUSED});
  }
  return all;
}

constexpr std::uint32_t argument(std::uint32_t index) {
  return offsetof(seccomp_data, args) + index * std::uint32_t{sizeof(std::uint64_t)};
}

// A BPF program. Jumps go forward, by a number of instructions.
class program {
 public:
  void load(std::uint32_t offset) { add(BPF_LD | BPF_W | BPF_ABS, offset); }
  void answer(std::uint32_t action) { add(BPF_RET | BPF_K, action); }
  void jump(std::uint16_t test, std::uint32_t value, std::uint8_t if_so, std::uint8_t if_not) {
    steps_.push_back({static_cast<std::uint16_t>(BPF_JMP | test | BPF_K), if_so, if_not, value});
  }

  void refuse(const refusal& r) {
    program inner;
    for (const condition& c : r.if_all) inner.require(c);
    inner.answer(SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(r.error));
    inner.leave_where_unmet();
    load(offsetof(seccomp_data, nr));
    jump(BPF_JEQ, static_cast<std::uint32_t>(r.call), 0,
         static_cast<std::uint8_t>(inner.steps_.size()));
    steps_.insert(steps_.end(), inner.steps_.begin(), inner.steps_.end());
  }

  std::vector<sock_filter> take() { return std::move(steps_); }

 private:
  static constexpr std::uint8_t kOut = 0xff;  // replaced by leave_where_unmet()

  void add(std::uint16_t code, std::uint32_t value) { steps_.push_back({code, 0, 0, value}); }

  void require(const condition& c) {
    constexpr std::uint32_t kUpper = sizeof(std::uint32_t);
    load(argument(c.argument));
    switch (c.test) {
      case condition::is: return jump(BPF_JEQ, c.value, 0, kOut);
      case condition::is_not: return jump(BPF_JEQ, c.value, kOut, 0);
      case condition::is_given:
        jump(BPF_JEQ, 0, 0, 2);  // a nonzero lower half is enough
        load(argument(c.argument) + kUpper);
        return jump(BPF_JEQ, 0, kOut, 0);
      case condition::has: return jump(BPF_JSET, c.value, 0, kOut);
      case condition::lacks: return jump(BPF_JSET, c.value, kOut, 0);
    }
  }

  void leave_where_unmet() {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const auto past_end = static_cast<std::uint8_t>(steps_.size() - 1 - i);
      for (std::uint8_t* to : {&steps_[i].jt, &steps_[i].jf})
        if (*to == kOut) *to = past_end;
    }
  }

  std::vector<sock_filter> steps_;
};

}  // namespace

std::vector<sock_filter> refused_calls(const confinement& c) {
  if (kFormat == 0) return {};
  program filter;
  filter.load(offsetof(seccomp_data, arch));
  filter.jump(BPF_JEQ, kFormat, 1, 0);
  filter.answer(SECCOMP_RET_ERRNO | ENOSYS);
  if (kFormat == AUDIT_ARCH_X86_64) {
    filter.load(offsetof(seccomp_data, nr));
    filter.jump(BPF_JGE, kOtherNumbers, 0, 1);
    filter.answer(SECCOMP_RET_ERRNO | ENOSYS);
  }
  for (const refusal& r : refusals(c)) filter.refuse(r);
  filter.answer(SECCOMP_RET_ALLOW);
  return filter.take();
}

}  // namespace kzoo::process
