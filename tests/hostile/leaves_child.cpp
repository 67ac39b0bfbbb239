// Starts a process that leaves the worker's group and session, and has init for a parent.
#include <kzoo/plugin.hpp>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

void start_daemon() {
  const pid_t child = fork();
  if (child != 0) {
    waitpid(child, nullptr, 0);
    return;
  }
  setsid();
  if (fork() == 0) {
    prctl(PR_SET_NAME, "kzoo-stray");
    sleep(600);
  }
  _exit(0);
}

struct leaves_child {
  using types = kzoo::types<float>;
  leaves_child(const kzoo_problem&, const kzoo_device&) { start_daemon(); }
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

}  // namespace

KZOO_PLUGIN("leaves_child", "Leaves a process behind",
            kzoo::variant<leaves_child>("only", "right, and gone when the run is over"));
