// kzoo: native options=-O3
// kzoo: tune BM=4,8 BN=8,16,32,64 BK=16,64,256
// A product on one CPU core, in tiles: BM x BN elements of C stay in registers while BK columns of
// A and rows of B go by. Which tile is the fastest depends on the processor and on the shape.
//
//   runner tune examples/tune/tiles.cpp --device cpu --sizes 256,64x512x256,512x64x1024

#include <kzoo/plugin.hpp>

#include <algorithm>

namespace {

struct tiles {
  static constexpr int kRows = BM, kColumns = BN, kDepth = BK;

  // Whole tiles only, so that the loops have constant lengths and the compiler unrolls them.
  static constexpr kzoo::granularity granularity{.m = kRows, .n = kColumns};

  void run(const kzoo::gemm<float>& g, const kzoo_arguments& arguments) const {
    auto* const sums = static_cast<float*>(arguments.workspace);  // M x N, as C may not be read
    std::fill_n(sums, std::size_t(g.m) * std::size_t(g.n), 0.0F);
    for (int k = 0; k < g.k; k += kDepth)
      for (int row = 0; row < g.m; row += kRows)
        for (int col = 0; col < g.n; col += kColumns)
          add_tile(g, row, col, k, std::min(k + kDepth, int(g.k)), sums);
    for (int row = 0; row < g.m; ++row)
      for (int col = 0; col < g.n; ++col) g.store(row, col, sums[std::size_t(row) * g.n + col]);
  }

  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device&) {
    return static_cast<std::size_t>(p.m * p.n) * sizeof(float);
  }

 private:
  static void add_tile(const kzoo::gemm<float>& g, int row, int col, int k, int k_end,
                       float* sums) {
    float tile[kRows][kColumns];
    for (int i = 0; i < kRows; ++i)
      std::copy_n(&sums[std::size_t(row + i) * g.n + col], kColumns, tile[i]);
    for (; k < k_end; ++k) {
      const float* const b = &g.b_at(k, col);
      for (int i = 0; i < kRows; ++i) {
        const float a = g.a_at(row + i, k);
        for (int j = 0; j < kColumns; ++j) tile[i][j] += a * b[j];
      }
    }
    for (int i = 0; i < kRows; ++i)
      std::copy_n(tile[i], kColumns, &sums[std::size_t(row + i) * g.n + col]);
  }
};

}  // namespace

KZOO_PLUGIN("tiles", "A product on one CPU core, in tiles",
            kzoo::variant<tiles>("tile", "BM x BN elements of C in registers, BK of K at a time"));
