// Work of other threads: after run() has returned, or while it waits for them.
#include <kzoo/plugin.hpp>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using gemm = kzoo::gemm<float>;

void compute_rows(const gemm& g, float* c, int ldc, int from, int to) {
  for (int row = from; row < to; ++row) {
    for (int col = 0; col < g.n; ++col) {
      float sum = 0;
      for (int i = 0; i < g.k; ++i) sum += g.a_at(row, i) * g.b_at(i, col);
      c[static_cast<long>(row) * ldc + col] = sum;
    }
  }
}

const char* only_plain(const kzoo_problem& p, const kzoo_device&) {
  return p.alpha != 1 || p.beta != 0 ? "it takes no alpha and no beta" : nullptr;
}

// A thread computes the last rows of C, and run() does not wait for it.
struct finishes_later {
  using types = kzoo::types<float>;
  static constexpr auto supports = only_plain;

  struct helper {
    std::atomic<int> asked{0};
    std::atomic<bool> ends{false};
    gemm of{};
    std::thread thread{[this] {
      for (int done = 0; !ends;) {
        if (asked == done) continue;
        ++done;
        compute_rows(of, of.c, of.ldc, of.m / 4, of.m);
      }
    }};
    ~helper() {
      ends = true;
      thread.join();
    }
  };
  std::unique_ptr<helper> other = std::make_unique<helper>();

  void run(const gemm& g, kzoo::stream_t) const {
    other->of = g;
    ++other->asked;
    compute_rows(g, g.c, g.ldc, 0, g.m / 4);
  }
};

// Threads each compute a part of the rows; run() waits for them.
struct thread_pool {
  using types = kzoo::types<float>;

  struct pool {
    static constexpr int kThreads = 3;
    std::mutex held;
    std::condition_variable changed;
    gemm of{};
    int asked = 0, working = 0;
    bool ends = false;
    std::vector<std::thread> threads;

    pool() {
      for (int i = 0; i < kThreads; ++i) threads.emplace_back([this, i] { work(i); });
    }
    ~pool() {
      {
        const std::lock_guard lock(held);
        ends = true;
      }
      changed.notify_all();
      for (std::thread& each : threads) each.join();
    }
    void work(int which) {
      for (int done = 0;; ++done) {
        std::unique_lock lock(held);
        changed.wait(lock, [&] { return ends || asked > done; });
        if (ends) return;
        const gemm g = of;
        lock.unlock();
        for (int row = which; row < g.m; row += kThreads) compute_row(g, row);
        lock.lock();
        if (--working == 0) changed.notify_all();
      }
    }
    static void compute_row(const gemm& g, int row) {
      for (int col = 0; col < g.n; ++col) {
        float sum = 0;
        for (int i = 0; i < g.k; ++i) sum += g.a_at(row, i) * g.b_at(i, col);
        g.store(row, col, sum);
      }
    }
  };
  std::unique_ptr<pool> all = std::make_unique<pool>();

  void run(const gemm& g, kzoo::stream_t) const {
    std::unique_lock lock(all->held);
    all->of = g;
    ++all->asked;
    all->working = pool::kThreads;
    all->changed.notify_all();
    all->changed.wait(lock, [&] { return all->working == 0; });
  }
};

}  // namespace

KZOO_PLUGIN("threads", "Work outside run()",
            kzoo::variant<finishes_later>("finishes_later", "does not wait for its thread"),
            kzoo::variant<thread_pool>("thread_pool", "must pass: it waits for its threads"));
