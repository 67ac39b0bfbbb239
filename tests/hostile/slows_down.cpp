// Right, and slower with each instance that its process has made: what a process does to a kernel,
// taken to extremes.
#include <kzoo/plugin.hpp>

#include <algorithm>
#include <chrono>

namespace {

class slows_down {
 public:
  using types = kzoo::types<float>;

  void run(const kzoo::gemm<float>& g, kzoo::stream_t) const {
    const auto end = std::chrono::steady_clock::now() + takes_;
    for (int row = 0; row < g.m; ++row) {
      for (int col = 0; col < g.n; ++col) {
        float sum = 0;
        for (int i = 0; i < g.k; ++i) sum += g.a_at(row, i) * g.b_at(i, col);
        g.store(row, col, sum);
      }
    }
    while (std::chrono::steady_clock::now() < end) continue;
  }

 private:
  static constexpr int kMost = 20;
  static inline int instances = 0;
  std::chrono::milliseconds takes_{std::min(++instances, kMost)};
};

}  // namespace

KZOO_PLUGIN("slows_down", "A millisecond for each instance that there has been in its process",
            kzoo::variant<slows_down>("only", "its time says how old the process is"));
