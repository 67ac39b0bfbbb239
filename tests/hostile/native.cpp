// Native CPU code: for tests with real times, matrices too large for the simulator, and processes.
#include "log_process.hpp"

#include <kzoo/plugin.hpp>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
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

// Computes once, then copies the result: right each time, but in an impossible time.
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

// Row 39 is off by one. In a large C this is detected only by a check that covers all rows.
struct wrong_row : honest {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    constexpr int kRow = 39;
    honest::run(g, stream);
    for (int col = 0; col < g.n && g.m > kRow; ++col) g.c[kRow * g.ldc + col] += 1;
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

// Logs the pid in each run.
struct tells_process : honest {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    hostile::log_process();
    honest::run(g, stream);
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

KZOO_PLUGIN("native", "Native CPU code",
            kzoo::variant<replays_result>("replays_result", "computes once"),
            kzoo::variant<wrong_row>("wrong_row", "adds 1 to row 39"),
            kzoo::variant<one_unwritten>("one_unwritten", "leaves out the last element"),
            kzoo::variant<tells_process>("tells_process", "logs the pid of each run"),
            kzoo::variant<leaves_child>("leaves_child", "starts a process that must be killed"));
