// At the CPU's own speed: times that count, matrices too large for the simulator, and processes.
#include "tell.hpp"

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

// Computes once and copies the result from then on: right each time, and too fast to be true.
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

// Row 39 is off by one: only who computes all rows of a large C, or sums them up, sees it.
struct wrong_row : honest {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    constexpr int kRow = 39;
    honest::run(g, stream);
    for (int col = 0; col < g.n && g.m > kRow; ++col) g.c[kRow * g.ldc + col] += 1;
  }
};

// The last element keeps what it held.
struct one_unwritten : honest {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    float& last = g.c[(g.m - 1) * g.ldc + g.n - 1];
    const float before = last;
    honest::run(g, stream);
    last = before;
  }
};

// Tells which process each of its runs is in.
struct tells_process : honest {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    hostile::tell();
    honest::run(g, stream);
  }
};

// Starts a process that leaves the worker's group and session, and has init for a parent.
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
    if (stray > 0) hostile::tell(stray);
    _exit(0);
  }
};

}  // namespace

KZOO_PLUGIN("native", "At the speed of the CPU",
            kzoo::variant<replays_result>("replays_result", "computes once"),
            kzoo::variant<wrong_row>("wrong_row", "adds 1 to row 39"),
            kzoo::variant<one_unwritten>("one_unwritten", "leaves out the last element"),
            kzoo::variant<tells_process>("tells_process", "one line for each run"),
            kzoo::variant<leaves_child>("leaves_child", "a process that must not stay"));
