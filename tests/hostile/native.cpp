// Native CPU code: for tests with real times, matrices too large for the simulator, and processes.
#include "log_process.hpp"
#include "tf32.hpp"

#include <kzoo/plugin.hpp>

#include <link.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

struct honest {
  using types = kzoo::types<float>;
  void run(const kzoo::gemm<float>& g, kzoo::stream_t) const {
    for (int row = 0; row < g.m; ++row) {
      for (int col = 0; col < g.n; ++col) {
        float sum = 0;
        for (int i = 0; i < g.k; ++i) sum += g.a_at(row, i) * g.b_at(i, col);
        g.store(row, col, sum);
      }
    }
  }
};

// Computes once, then copies the result.
struct replays_result : honest {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    const auto row = static_cast<std::size_t>(g.n);
    if (kept.empty()) {
      honest::run(g, stream);
      for (int i = 0; i < g.m; ++i) kept.insert(kept.end(), g.c + i * g.ldc, g.c + i * g.ldc + row);
      return;
    }
    for (int i = 0; i < g.m; ++i)
      std::memcpy(g.c + i * g.ldc, kept.data() + static_cast<std::size_t>(i) * row,
                  row * sizeof(float));
  }
  mutable std::vector<float> kept;
};

// Leaves C unchanged if it still holds the previous run's result.
struct keeps_c : honest {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    if (g.c[0] == first) return;
    honest::run(g, stream);
    first = g.c[0];
  }
  mutable float first = 0;
};

// Copies a kept result with new signs, read from an element of each row of A and column of B. With
// kNotices it recomputes for unseen numbers.
template <bool kNotices>
struct replays_signs : honest {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    std::vector<float> edges;
    for (int row = 0; row < g.m; ++row) edges.push_back(g.a_at(row, 0));
    for (int col = 0; col < g.n; ++col) edges.push_back(g.b_at(0, col));
    const auto is_same = [](float x, float y) { return std::abs(x) == std::abs(y); };
    if (kept.empty() || (kNotices && !std::ranges::equal(edges, kept_edges, is_same))) {
      honest::run(g, stream);
      kept.clear();
      for (int row = 0; row < g.m; ++row)
        kept.insert(kept.end(), g.c + row * g.ldc, g.c + row * g.ldc + g.n);
      kept_edges = edges;
      return;
    }
    for (int row = 0; row < g.m; ++row) {
      const bool row_differs = edges[std::size_t(row)] != kept_edges[std::size_t(row)];
      for (int col = 0; col < g.n; ++col) {
        const auto edge = static_cast<std::size_t>(g.m + col);
        const bool negated = row_differs != (edges[edge] != kept_edges[edge]);
        const float value =
            kept[static_cast<std::size_t>(row) * std::size_t(g.n) + std::size_t(col)];
        g.c[row * g.ldc + col] = negated ? -value : value;
      }
    }
  }
  mutable std::vector<float> kept, kept_edges;
};

// Right for the first six sets of numbers, judged and unseen; later writes nothing.
struct skips_after_unseen : honest {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    if (const auto key = std::pair{g.a_at(0, 0), g.b_at(0, 0)}; key != last) {
      last = key;
      ++seen;
    }
    constexpr int kJudgedAndUnseen = 6;
    if (seen <= kJudgedAndUnseen) honest::run(g, stream);
  }
  mutable std::pair<float, float> last;
  mutable int seen = 0;
};

// Copies the result of its third run, kept for all instances. kFromCreate: the third run of all.
template <bool kFromCreate>
struct remembers : honest {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    static std::vector<float> kept;
    static int runs = 0;
    constexpr int kThird = 3;
    const auto size = static_cast<std::size_t>(g.m) * static_cast<std::size_t>(g.n);
    if ((kFromCreate ? ++runs : ++own_runs) <= kThird || kept.size() != size) {
      honest::run(g, stream);
      kept.resize(size);
      for (int row = 0; row < g.m; ++row)
        std::copy_n(g.c + row * g.ldc, g.n, kept.data() + row * g.n);
      return;
    }
    for (int row = 0; row < g.m; ++row)
      std::copy_n(kept.data() + row * g.n, g.n, g.c + row * g.ldc);
  }
  mutable int own_runs = 0;
};

// Replays only if C is not at its first address, as in end-to-end runs.
struct replays_elsewhere : replays_result {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    if (c == nullptr) c = g.c;
    if (g.c == c) return honest::run(g, stream);
    replays_result::run(g, stream);
  }
  mutable float* c = nullptr;
};

// While C holds its result, computes every second time: without pauses C is not filled.
struct skips_in_batches : honest {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    if (!std::isnan(g.c[0]) && (++runs & 1) != 0) return;
    honest::run(g, stream);
  }
  mutable int runs = 0;
};

// Settings of a process that others may change: memory limit, nice value, processors.
struct settings {
  rlimit memory{};
  int niceness = 0, processors = 0;
  bool operator==(const settings& other) const {
    return memory.rlim_cur == other.memory.rlim_cur && niceness == other.niceness &&
           processors == other.processors;
  }
  static settings now() {
    settings s;
    getrlimit(RLIMIT_DATA, &s.memory);
    s.niceness = getpriority(PRIO_PROCESS, 0);
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    s.processors = CPU_COUNT(&set);
    return s;
  }
};

// Changes the settings of all other workers.
struct hinders_rivals : honest {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    const std::string supervisor = std::to_string(getppid());
    std::ifstream children("/proc/" + supervisor + "/task/" + supervisor + "/children");
    bool found = false;
    for (pid_t rival = 0; children >> rival;) {
      if (rival == getpid()) continue;
      found = true;
      constexpr rlimit kAlmostNothing{4096, 4096};
      prlimit(rival, RLIMIT_DATA, &kAlmostNothing, nullptr);
      setpriority(PRIO_PROCESS, static_cast<id_t>(rival), 10);
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(0, &one);
      sched_setaffinity(rival, sizeof one, &one);
    }
    if (!found) throw std::runtime_error("there is no rival");
    honest::run(g, stream);
  }
};

// Fails if its own settings have changed since its first call.
struct notices_hindrance : honest {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    static const settings at_first = settings::now();
    if (!(settings::now() == at_first)) throw std::runtime_error("hindered");
    honest::run(g, stream);
  }
};

// Rounds differently in each run, as declared, and skips some runs in each turn.
struct pauses : honest {
  static constexpr bool nondeterministic = true;
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    constexpr int kFrom = 10, kTo = 60;
    if (++runs > kFrom && runs < kTo) return;
    honest::run(g, stream);
    float& one = g.c[runs % g.n];
    one = std::nextafter(one, runs % 2 == 0 ? 0.0f : 2 * one);
  }
  mutable int runs = 0;
};

// Makes each later instruction trap; the handler computes once the stop clock has been read.
struct works_after_clock : honest {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t) const {
    delete std::exchange(asked_for, new kzoo::gemm<float>(g));
    struct sigaction action {};
    action.sa_sigaction = on_trap;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, nullptr);
    in_clock = false;
    asm volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
  }
  static void on_trap(int, siginfo_t*, void* context) {
    constexpr unsigned long kPages = 0x4000;
    constexpr long kTrapFlag = 0x100;
    auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const unsigned long vdso = getauxval(AT_SYSINFO_EHDR);
    const bool was_in_clock = in_clock;
    in_clock = static_cast<unsigned long>(registers[REG_RIP]) - vdso < kPages;
    if (!was_in_clock || in_clock) return;
    honest().run(*asked_for, nullptr);
    registers[REG_EFL] &= ~kTrapFlag;
  }
  static inline const kzoo::gemm<float>* asked_for = nullptr;
  static inline bool in_clock = false;
};

// Makes reading the time-stamp counter fault. The handler computes when the start clock is read.
struct works_before_clock : honest {
  works_before_clock(const kzoo_problem&, const kzoo_device&) {
    int state = 0;
    if (prctl(PR_GET_TSC, &state) != 0)
      throw kzoo::error(KZOO_UNSUPPORTED, "reading the counter cannot be made a fault here");
  }
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    const auto row = static_cast<std::size_t>(g.n);
    if (computed.empty()) {
      honest::run(g, stream);
    } else {
      for (int i = 0; i < g.m; ++i)
        std::memcpy(g.c + i * g.ldc, computed.data() + static_cast<std::size_t>(i) * row,
                    row * sizeof(float));
    }
    delete std::exchange(asked_for, new kzoo::gemm<float>(g));
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, nullptr);
    prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
  }
  ~works_before_clock() { prctl(PR_SET_TSC, PR_TSC_ENABLE); }
  static void on_fault(int, siginfo_t*, void*) {
    prctl(PR_SET_TSC, PR_TSC_ENABLE);
    kzoo::gemm<float> g = *asked_for;
    computed.resize(static_cast<std::size_t>(g.m) * static_cast<std::size_t>(g.n));
    g.c = computed.data();
    g.ldc = g.n;
    honest().run(g, nullptr);
  }
  static inline const kzoo::gemm<float>* asked_for = nullptr;
  static inline std::vector<float> computed;
};

// Row 39 is off by one. In a large C this is detected only by a check that covers all rows.
struct wrong_row : honest {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    constexpr int kRow = 39;
    honest::run(g, stream);
    for (int col = 0; col < g.n && g.m > kRow; ++col) g.c[kRow * g.ldc + col] += 1;
  }
};

// Whether the numbers are fractions, unlike some checks' numbers.
bool are_fractions(const kzoo::gemm<float>& g) {
  return g.a_at(0, 0) != static_cast<float>(static_cast<int>(g.a_at(0, 0)));
}

// Computes every third row. Only a check of all rows of a large C, with real numbers, detects it.
struct skips_rows : honest {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    honest::run(g, stream);
    constexpr int kSpared = 3;
    if (!are_fractions(g)) return;
    for (int row = 1; row < g.m - 1; ++row) {
      if (row % kSpared == 0) continue;
      for (int col = 0; col < g.n; ++col) g.c[row * g.ldc + col] = 0;
    }
  }
};

// Paths for large sizes that were never tested with beta, odd K, or integers' precision.
constexpr int kLarge = 260;  // larger than the checks' small shapes
bool is_large(const kzoo::gemm<float>& g) { return g.m >= kLarge && g.n >= kLarge; }

struct large_without_beta : honest {
  void run(kzoo::gemm<float> g, kzoo::stream_t stream) const {
    if (is_large(g)) g.beta = 0;
    honest::run(g, stream);
  }
};
struct large_without_tail : honest {
  void run(kzoo::gemm<float> g, kzoo::stream_t stream) const {
    constexpr int kTile = 8;
    if (is_large(g)) g.k -= g.k % kTile;
    honest::run(g, stream);
  }
};
struct large_in_bf16 : honest {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    if (!is_large(g) || are_fractions(g)) return honest::run(g, stream);
    for (int row = 0; row < g.m; ++row) {
      for (int col = 0; col < g.n; ++col) {
        float sum = 0;
        for (int i = 0; i < g.k; ++i) sum += round(g.a_at(row, i)) * round(g.b_at(i, col));
        g.store(row, col, sum);
      }
    }
  }
  static float round(float x) { return kzoo::bf16_bits_to_float(kzoo::float_to_bf16_bits(x)); }
};
// Truncates B to TF32 for long K and integers, where the error bound alone does not detect it.
struct long_k_in_tf32 : honest {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    constexpr int kLong = 16384;
    if (g.k < kLong || are_fractions(g)) return honest::run(g, stream);
    for (int row = 0; row < g.m; ++row) {
      for (int col = 0; col < g.n; ++col) {
        float sum = 0;
        for (int i = 0; i < g.k; ++i) sum += g.a_at(row, i) * hostile::to_tf32(g.b_at(i, col));
        g.store(row, col, sum);
      }
    }
  }
};
// Sums bytes in a float, which is exact up to 2^24: too little for long K, in tall GEMMs.
struct long_in_floats {
  using types = kzoo::types<kzoo::to<signed char, int>>;
  void run(const kzoo::gemm<kzoo::to<signed char, int>>& g, kzoo::stream_t) const {
    constexpr int kTall = 100, kLong = 10000;
    for (int row = 0; row < g.m; ++row) {
      for (int col = 0; col < g.n; ++col) {
        float float_sum = 0;
        int sum = 0;
        for (int i = 0; i < g.k; ++i) {
          const int term = g.a_at(row, i) * g.b_at(i, col);
          sum += term;
          float_sum += static_cast<float>(term);
        }
        g.store(row, col, g.m >= kTall && g.k >= kLong ? static_cast<int>(float_sum) : sum);
      }
    }
  }
};

// Spoils the process for later variants, of which is_spoilt is right by itself.
float scale = 1;
struct spoils_others : honest {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    honest::run(g, stream);
    scale = 2;
  }
};
struct is_spoilt : honest {
  void run(kzoo::gemm<float> g, kzoo::stream_t stream) const {
    g.alpha *= scale;
    honest::run(g, stream);
  }
};

// Wrong in every fourth run: what ran before is no excuse.
struct wrong_now_and_then : honest {
  void run(kzoo::gemm<float> g, kzoo::stream_t stream) const {
    static int calls = 0;
    constexpr int kEvery = 4;
    if (calls++ % kEvery == 0) g.alpha *= 2;
    honest::run(g, stream);
  }
};

// Replaces the C++ library's clock by a clock eight times slower.
std::chrono::steady_clock::time_point slow_clock() noexcept {
  constexpr long long kSlower = 8, kNsPerSecond = 1'000'000'000;
  timespec now{};
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  const long long ns = now.tv_sec * kNsPerSecond + now.tv_nsec;
  static const long long start = ns;
  return std::chrono::steady_clock::time_point(
      std::chrono::nanoseconds(start + (ns - start) / kSlower));
}
// Overwrites the function's first instructions.
struct patches_clock : honest {
  patches_clock(const kzoo_problem&, const kzoo_device&) {
    auto* const now = reinterpret_cast<unsigned char*>(&std::chrono::steady_clock::now);
    const auto page = reinterpret_cast<std::uintptr_t>(now) & ~std::uintptr_t{4095};
    mprotect(reinterpret_cast<void*>(page), 2 * 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
    unsigned char jump[] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};  // mov rax; jmp rax
    const auto target = reinterpret_cast<std::uintptr_t>(&slow_clock);
    std::memcpy(jump + 2, &target, sizeof target);
    std::memcpy(now, jump, sizeof jump);
  }
};

// Overwrites the C++ library's address of clock_gettime.
int slow_gettime(clockid_t, timespec* now) {
  const auto ns = slow_clock().time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(ns);
  *now = {seconds.count(), (ns - seconds).count()};
  return 0;
}
int replace_address(dl_phdr_info* library, std::size_t, void*) {
  if (std::strstr(library->dlpi_name, "libstdc++") == nullptr) return 0;
  const ElfW(Rela)* slots = nullptr;
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  std::size_t bytes = 0;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = library->dlpi_phdr[i];
    if (segment.p_type != PT_DYNAMIC) continue;
    auto* entry = reinterpret_cast<const ElfW(Dyn)*>(library->dlpi_addr + segment.p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      const ElfW(Addr) address = entry->d_un.d_ptr;
      if (entry->d_tag == DT_JMPREL) slots = reinterpret_cast<const ElfW(Rela)*>(address);
      if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(address);
      if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(address);
      if (entry->d_tag == DT_PLTRELSZ) bytes = entry->d_un.d_val;
    }
  }
  for (std::size_t i = 0; i < bytes / sizeof *slots; ++i) {
    if (std::strcmp(names + symbols[ELF64_R_SYM(slots[i].r_info)].st_name, "clock_gettime") == 0)
      *reinterpret_cast<void**>(library->dlpi_addr + slots[i].r_offset) =
          reinterpret_cast<void*>(&slow_gettime);
  }
  return 0;
}
struct slows_clock : honest {
  slows_clock(const kzoo_problem&, const kzoo_device&) {
    dl_iterate_phdr(replace_address, nullptr);
  }
};

// Uses A for scratch data, and restores it.
struct writes_and_restores : honest {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    honest::run(g, stream);
    volatile float& x = const_cast<float&>(g.a_at(g.m - 1, 0));
    const float before = x;
    x = 0;
    x = before;
  }
};

template <std::size_t kBytes>
struct leaks : honest {
  leaks(const kzoo_problem&, const kzoo_device&) {
    auto* const kept = static_cast<volatile char*>(std::malloc(kBytes));
    kept[0] = 1;
  }
};

// Computes when C is read: until then C is inaccessible, so that its reader waits.
kzoo::gemm<float> promised;
struct sigaction without_promise;
std::pair<void*, std::size_t> pages_of(const kzoo::gemm<float>& g) {
  constexpr std::uintptr_t kPage = 4096;
  const auto begin = reinterpret_cast<std::uintptr_t>(g.c) / kPage * kPage;
  const auto end = reinterpret_cast<std::uintptr_t>(g.c + (g.m - 1) * g.ldc + g.n);
  return {reinterpret_cast<void*>(begin), end - begin};
}
void keep_promise(int, siginfo_t*, void*) {
  const auto [pages, bytes] = pages_of(promised);
  mprotect(pages, bytes, PROT_READ | PROT_WRITE);
  sigaction(SIGSEGV, &without_promise, nullptr);
  honest{}.run(promised, nullptr);
}
struct computes_when_read : honest {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t) const {
    promised = g;
    struct sigaction on_read {};
    on_read.sa_sigaction = keep_promise;
    on_read.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &on_read, &without_promise);
    const auto [pages, bytes] = pages_of(g);
    mprotect(pages, bytes, PROT_NONE);
  }
};

// Leaves the last element unwritten.
struct one_unwritten : honest {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    float& last = g.c[(g.m - 1) * g.ldc + g.n - 1];
    const float before = last;
    honest::run(g, stream);
    last = before;
  }
};

// Whether every other worker of the runner stops within seconds. Throws if there is no other.
bool rivals_are_stopped() {
  const auto all_stopped = [] {
    bool found = false;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::ifstream file(entry.path() / "stat");
      int pid = 0, parent = 0;
      std::string name, state;
      if (!(file >> pid >> name >> state >> parent)) continue;
      if (parent != getppid() || pid == getpid()) continue;
      if (state != "T") return false;
      found = true;
    }
    if (!found) throw std::runtime_error("there is no rival");
    return true;
  };
  constexpr int kTries = 200;
  for (int i = 0; i < kTries && !all_stopped(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return all_stopped();
}
struct watches_rivals : honest {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    if (!rivals_are_stopped()) throw std::runtime_error("another worker runs");
    honest::run(g, stream);
  }
};

struct tells_process : honest {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    hostile::log_process();
    honest::run(g, stream);
  }
};

// Fails if its process could write a core: with a limit of 1 byte nothing receives one.
struct has_no_core : honest {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    rlimit core{};
    getrlimit(RLIMIT_CORE, &core);
    if (core.rlim_cur > 1 || core.rlim_max > 1) throw std::runtime_error("cores are written");
    honest::run(g, stream);
  }
};

// Fails if it can print more than 256 MiB.
struct prints_without_end : honest {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    constexpr std::size_t kLimit = std::size_t{256} << 20;
    const std::string words(std::size_t{1} << 20, '.');
    for (std::size_t printed = 0;;) {
      const ssize_t more = write(STDOUT_FILENO, words.data(), words.size());
      if (more <= 0) break;
      printed += static_cast<std::size_t>(more);
      if (printed > kLimit) throw std::runtime_error("nothing stops it");
    }
    honest::run(g, stream);
  }
};

// Whether this process may not run on CPU 0.
bool is_elsewhere() {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 && !CPU_ISSET(0, &allowed);
}

// Takes four times as long elsewhere.
struct slow_elsewhere : honest {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    for (int left = is_elsewhere() ? 4 : 1; left > 0; --left) honest::run(g, stream);
  }
};

// Adds up in reverse elsewhere, so that the last bits differ.
struct other_bits_elsewhere : honest {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    if (!is_elsewhere()) return honest::run(g, stream);
    for (int row = 0; row < g.m; ++row) {
      for (int col = 0; col < g.n; ++col) {
        float sum = 0;
        for (int i = g.k - 1; i >= 0; --i) sum += g.a_at(row, i) * g.b_at(i, col);
        g.store(row, col, sum);
      }
    }
  }
};

// Starts a daemon: a process that leaves the worker's process group and session and is orphaned.
struct leaves_child : honest {
  leaves_child(const kzoo_problem&, const kzoo_device&) {
    const pid_t child = fork();
    if (child != 0) {
      waitpid(child, nullptr, 0);
      return;
    }
    setsid();
    const pid_t stray = fork();
    if (stray == 0) sleep(600);
    if (stray > 0) hostile::log_process(stray);
    _exit(0);
  }
};

}  // namespace

KZOO_PLUGIN("native", "Native CPU code", kzoo::variant<honest>("honest", "must pass"),
            kzoo::variant<replays_result>("replays_result", "computes once"),
            kzoo::variant<keeps_c>("keeps_c", "computes what C does not hold"),
            kzoo::variant<skips_after_unseen>("skips_after_unseen",
                                              "computes what is judged first"),
            kzoo::variant<remembers<false>>("learns_late", "computes in its first three runs"),
            kzoo::variant<remembers<true>>("remembers_in_create", "all instances, three runs"),
            kzoo::variant<replays_elsewhere>("replays_elsewhere", "computes at one address"),
            kzoo::variant<skips_in_batches>("skips_in_batches", "computes every second time"),
            kzoo::variant<replays_signs<true>>("replays_signs", "computes what it has not seen"),
            kzoo::variant<replays_signs<false>>("replays_signs_blindly", "computes once"),
            kzoo::variant<wrong_row>("wrong_row", "adds 1 to row 39"),
            kzoo::variant<patches_clock>("patches_clock", "the same, by changing its code"),
            kzoo::variant<slows_clock>("slows_clock", "its time is an eighth of the true one"),
            kzoo::variant<works_after_clock>("works_after_clock", "in a handler of its own"),
            kzoo::variant<works_before_clock>("works_before_clock", "in a handler of its own"),
            kzoo::variant<hinders_rivals>("hinders_rivals",
                                          "changes limits and niceness of others"),
            kzoo::variant<notices_hindrance>("notices_hindrance", "fails where it is hindered"),
            kzoo::variant<pauses>("pauses", "computes nothing in 50 runs"),
            kzoo::variant<one_unwritten>("one_unwritten", "leaves out the last element"),
            kzoo::variant<writes_and_restores>("writes_and_restores", "an element of A"),
            kzoo::variant<leaks<100'000>>("leaks", "100 kB each time"),
            kzoo::variant<leaks<32'000'000>>("leaks_much", "32 MB each time"),
            kzoo::variant<computes_when_read>("computes_when_read", "in a time of nothing"),
            kzoo::variant<skips_rows>("skips_rows", "leaves two rows of three at zero"),
            kzoo::variant<large_without_beta>("large_without_beta", "beta on small shapes only"),
            kzoo::variant<large_without_tail>("large_without_tail", "k tails on small shapes only"),
            kzoo::variant<large_in_bf16>("large_in_bf16", "fp32 on small shapes only"),
            kzoo::variant<long_k_in_tf32>("long_k_in_tf32", "fp32 where K is short only"),
            kzoo::variant<long_in_floats>("long_in_floats", "exact where K is short only"),
            kzoo::variant<spoils_others>("spoils_others", "changes what is_spoilt computes"),
            kzoo::variant<is_spoilt>("is_spoilt", "right by itself"),
            kzoo::variant<wrong_now_and_then>("wrong_now_and_then", "wrong in every fourth call"),
            kzoo::variant<watches_rivals>("watches_rivals", "fails where another worker runs"),
            kzoo::variant<tells_process>("tells_process", "logs the pid of each run"),
            kzoo::variant<has_no_core>("has_no_core", "fails where cores are written"),
            kzoo::variant<prints_without_end>("prints_without_end", "until it may not"),
            kzoo::variant<slow_elsewhere>("slow_elsewhere", "four times as slow off CPU 0"),
            kzoo::variant<slow_elsewhere>("slow_elsewhere_a", "the same"),
            kzoo::variant<slow_elsewhere>("slow_elsewhere_b", "the same"),
            kzoo::variant<other_bits_elsewhere>("bits_elsewhere", "other last bits off CPU 0"),
            kzoo::variant<other_bits_elsewhere>("bits_elsewhere_a", "the same"),
            kzoo::variant<other_bits_elsewhere>("bits_elsewhere_b", "the same"),
            kzoo::variant<leaves_child>("leaves_child", "starts a process that must be killed"));
