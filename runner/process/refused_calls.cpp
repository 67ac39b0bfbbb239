#include "process/confinement.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace kzoo::process {
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
constexpr std::uint32_t kSetSyscallUserDispatch = 59;  // of prctl()
constexpr std::uint32_t kNewUserfaultfd = 0xaa00;      // of ioctl(), on /dev/userfaultfd
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

// Whether CUDA's Multi-Process Service runs: its clients must connect to it.
bool has_server_of_cuda() {
  const char* folder = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
  std::error_code ignored;
  return std::filesystem::exists(
      std::filesystem::path(folder == nullptr ? "/tmp/nvidia-mps" : folder) / "control", ignored);
}

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
    if (!has_server_of_cuda()) all.push_back({SYS_connect, {}, ECONNREFUSED});
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
  void answer(std::uint32_t what) { add(BPF_RET | BPF_K, what); }
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
      case condition::is:
        return jump(BPF_JEQ, c.value, 0, kOut);
      case condition::is_not:
        return jump(BPF_JEQ, c.value, kOut, 0);
      case condition::is_given:
        jump(BPF_JEQ, 0, 0, 2);  // a nonzero lower half is enough
        load(argument(c.argument) + kUpper);
        return jump(BPF_JEQ, 0, kOut, 0);
      case condition::has:
        return jump(BPF_JSET, c.value, 0, kOut);
      case condition::lacks:
        return jump(BPF_JSET, c.value, kOut, 0);
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
