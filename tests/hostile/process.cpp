// Host code that harms its process.
#include <kzoo/plugin.hpp>

#include "log_process.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct host_code {
  using types = kzoo::types<float>;
  void run(const kzoo::gemm<float>&, kzoo::stream_t) const {}
};

// Throws an exception, which must be reported as an error with its text.
struct throws : host_code {
  void run(const kzoo::gemm<float>&, kzoo::stream_t) const {
    throw std::runtime_error("no luck today");
  }
};

// Calls exit(), as some libraries do on errors.
struct exits : host_code {
  void run(const kzoo::gemm<float>&, kzoo::stream_t) const { std::exit(7); }
};

// A failed assertion while the variant is created; it prints a message to stderr first.
struct aborts : host_code {
  aborts(const kzoo_problem&, const kzoo_device&) {
    std::fputs("giving up\n", stderr);
    std::abort();
  }
};

struct crashes_in_supports : host_code {
  static const char* supports(const kzoo_problem&, const kzoo_device&) { std::abort(); }
};

// Finds the worker's channel and sends a forged reply.
struct forges_reply : host_code {
  void run(const kzoo::gemm<float>&, kzoo::stream_t) const {
    constexpr int kControl = 3;
    const char* reply = "{\"samples_ms\": []}\n";
    if (write(kControl, reply, std::strlen(reply)) < 0) throw kzoo::error(KZOO_ERROR, "no channel");
  }
};

// Allocates until something stops it.
struct eats_memory : host_code {
  void run(const kzoo::gemm<float>&, kzoo::stream_t) const {
    constexpr std::size_t kGigabyte = std::size_t{1} << 30, kMost = 4096;
    std::vector<std::unique_ptr<std::byte[]>> kept;
    while (kept.size() < kMost) kept.emplace_back(new std::byte[kGigabyte]);
    throw kzoo::error(KZOO_ERROR, "4 TB could be allocated");
  }
};

// Allocates shared memory, which no limit of its process counts.
struct shares_memory : host_code {
  void run(const kzoo::gemm<float>&, kzoo::stream_t) const {
    constexpr std::size_t kGigabyte = std::size_t{1} << 30, kMost = 4096, kPage = 4096;
    for (std::size_t i = 0; i < kMost; ++i) {
      auto* memory = static_cast<volatile char*>(
          mmap(nullptr, kGigabyte, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
      if (memory == MAP_FAILED) throw kzoo::error(KZOO_ERROR, "mmap fails");
      for (std::size_t at = 0; at < kGigabyte; at += kPage) memory[at] = 1;
    }
  }
};

// Tries to join the runner's process group and hang there. The leader of a session cannot.
struct leaves_group : host_code {
  void run(const kzoo::gemm<float>&, kzoo::stream_t) const {
    if (setpgid(0, getpgid(getppid())) != 0) throw kzoo::error(KZOO_ERROR, "setpgid fails");
    hostile::log_process();
    for (;;) pause();
  }
};

// Stops its own process, which then neither answers nor ends.
struct stops_itself : host_code {
  void run(const kzoo::gemm<float>&, kzoo::stream_t) const { raise(SIGSTOP); }
};

// Leaves two segments of shared memory behind, and logs the number of the System V segment.
struct leaves_segments : host_code {
  leaves_segments(const kzoo_problem&, const kzoo_device&) {
    hostile::log_process(shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600));
    const std::string name = "/kzoo-test-" + std::to_string(getpid());
    const int fd = shm_open(name.c_str(), O_CREAT | O_RDWR, 0600);
    if (fd < 0) throw kzoo::error(KZOO_ERROR, "shm_open fails");
    hostile::log_process();
  }
};

// Leaves a file in a locked folder in its temporary folder, and crashes.
struct leaves_files : host_code {
  leaves_files(const kzoo_problem&, const kzoo_device&) {
    const std::string locked = std::string(std::getenv("TMPDIR")) + "/locked";
    mkdir(locked.c_str(), 0700);
    if (open((locked + "/file").c_str(), O_WRONLY | O_CREAT, 0600) < 0)
      throw kzoo::error(KZOO_ERROR, "nothing can be written in TMPDIR");
    chmod(locked.c_str(), 0);
  }
  void run(const kzoo::gemm<float>&, kzoo::stream_t) const { std::abort(); }
};

// Tries to change the file in KZOO_VICTIM or its folder, and CUDA's cache of other programs'
// kernels, and to signal the runner or open its memory. Looks for a descriptor of a file in that
// folder, and for the runner's KZOO_TOKEN. Tries to create a file in /var/tmp, and to open
// terminals. Reports its successes.
struct attacks_others : host_code {
  void run(const kzoo::gemm<float>&, kzoo::stream_t) const {
    const std::string victim = std::getenv("KZOO_VICTIM");
    std::string done;
    if (open(victim.c_str(), O_WRONLY) >= 0) done += " overwrites";
    if (truncate(victim.c_str(), 0) == 0) done += " truncates";
    if (open((victim + ".new").c_str(), O_WRONLY | O_CREAT, 0600) >= 0) done += " creates";
    if (unlink(victim.c_str()) == 0) done += " removes";
    const std::string kernel = std::string(std::getenv("CUDA_CACHE_PATH")) + "/kernel";
    if (open(kernel.c_str(), O_WRONLY | O_CREAT, 0600) >= 0) done += " replaces compiled kernels";
    if (kill(getppid(), SIGCONT) == 0) done += " signals";
    const std::string memory = "/proc/" + std::to_string(getppid()) + "/mem";
    if (open(memory.c_str(), O_RDONLY) >= 0) done += " reads memory";
    const std::string folder = victim.substr(0, victim.rfind('/') + 1);
    for (int fd = 0; fd < 64; ++fd) {
      char file[4096] = {};
      const std::string link = "/proc/self/fd/" + std::to_string(fd);
      if (readlink(link.c_str(), file, sizeof file - 1) > 0 &&
          std::string(file).compare(0, folder.size(), folder) == 0) {
        done += " inherits";
      }
    }
    const std::string elsewhere = "/var/tmp/kzoo-test-" + std::to_string(getpid());
    if (open(elsewhere.c_str(), O_WRONLY | O_CREAT, 0600) >= 0) {
      unlink(elsewhere.c_str());
      done += " creates elsewhere";
    }
    for (const char* terminal :
         {"/dev/tty", "/dev/ptmx", "/dev/pts/0", "/dev/pts/1", "/dev/console"})
      for (const int how : {O_RDONLY, O_WRONLY, O_RDWR})
        if (open(terminal, how) >= 0) done += std::string(" opens ") + terminal;
    if (std::getenv("KZOO_TOKEN") != nullptr) done += " has token";
    for (const pid_t process : {getpid(), getppid()}) {
      std::ifstream file("/proc/" + std::to_string(process) + "/environ");
      const std::string all(std::istreambuf_iterator<char>(file), {});
      if (all.find("KZOO_TOKEN") != std::string::npos) done += " finds token";
    }
    throw kzoo::error(KZOO_ERROR, "it:" + (done.empty() ? " nothing" : done));
  }
};

}  // namespace

KZOO_PLUGIN("process", "Misbehaves as a host program can",
            kzoo::variant<throws>("throws", "an exception must not cross the ABI"),
            kzoo::variant<exits>("exits", "ends the process without a signal"),
            kzoo::variant<aborts>("aborts", "in create"),
            kzoo::variant<crashes_in_supports>("crashes_in_supports", "before create"),
            kzoo::variant<forges_reply>("forges_reply", "sends a reply in the worker's place"),
            kzoo::variant<eats_memory>("eats_memory", "must not exhaust the machine's memory"),
            kzoo::variant<shares_memory>("shares_memory", "nor in shared mappings"),
            kzoo::variant<leaves_group>("leaves_group", "would hang in another process group"),
            kzoo::variant<stops_itself>("stops_itself", "by SIGSTOP"),
            kzoo::variant<leaves_segments>("leaves_segments", "of shared memory"),
            kzoo::variant<leaves_files>("leaves_files", "in its temporary folder"),
            kzoo::variant<attacks_others>("attacks_others", "writes and signals"));
