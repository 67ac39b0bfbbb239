// Computes at its first run and copies the result from then on, at the CPU's own speed: whoever
// looks at C alone sees a fast kernel.
#include <kzoo/plugin.hpp>

#include <cstring>
#include <vector>

namespace {

struct replays_result {
  using types = kzoo::types<float>;

  void run(const kzoo::gemm<float>& g, kzoo::stream_t) const {
    if (kept.empty()) compute(g);
    const auto row = static_cast<std::size_t>(g.n);
    for (int i = 0; i < g.m; ++i)
      std::memcpy(g.c + i * g.ldc, kept.data() + static_cast<std::size_t>(i) * row,
                  row * sizeof(float));
  }
  void compute(const kzoo::gemm<float>& g) const {
    for (int row = 0; row < g.m; ++row) {
      for (int col = 0; col < g.n; ++col) {
        float sum = 0;
        for (int i = 0; i < g.k; ++i) sum += g.a_at(row, i) * g.b_at(i, col);
        g.store(row, col, sum);
        kept.push_back(g.c[row * g.ldc + col]);
      }
    }
  }
  mutable std::vector<float> kept;
};

}  // namespace

KZOO_PLUGIN("replays_result", "Computes once, natively",
            kzoo::variant<replays_result>("only", "right each time, and too fast to be true"));
