// kzoo: native
// Computes once for the same arguments, and copies that result whenever they come again: the cache
// of an author who thinks that what lies at an address stays the same.
#include <kzoo/plugin.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

template <bool kByAddress>
struct keeps_results {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t) const {
    using key = std::array<double, 8>;
    static std::map<std::pair<key, const float*>, std::vector<float>> known;
    const key arguments{double(g.m),   double(g.n),   double(g.k), double(g.lda),
                        double(g.ldb), double(g.ldc), g.alpha,     g.beta};
    auto& kept = known[{arguments, kByAddress ? g.a : nullptr}];
    const bool is_new = kept.empty();
    if (is_new) kept.resize(std::size_t(g.m) * std::size_t(g.n));
    for (int row = 0; row < g.m; ++row) {
      float* const c = g.c + long(row) * g.ldc;
      float* const copy = kept.data() + long(row) * g.n;
      if (!is_new) {
        std::copy_n(copy, g.n, c);
        continue;
      }
      for (int col = 0; col < g.n; ++col) {
        float sum = 0;
        for (int i = 0; i < g.k; ++i) sum += g.a_at(row, i) * g.b_at(i, col);
        g.store(row, col, sum);
      }
      std::copy_n(c, g.n, copy);
    }
  }
};

KZOO_PLUGIN("keeps_results", "A cache", kzoo::variant<keeps_results<true>>("by_address", "of A"),
            kzoo::variant<keeps_results<false>>("by_shape", "whatever the matrices"));
