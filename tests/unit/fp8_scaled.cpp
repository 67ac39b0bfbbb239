// fp8_scaled: which scale an accumulator is multiplied by.

#include <hopper/fp8_scaled/scales.hpp>

#include <kzoo/launch.hpp>

#include <vector>

#include "support/catch.hpp"

namespace {

template <int BM, int BN>
struct shape {
  static constexpr int kBM = BM, kBN = BN, kAccumulators = BN / 2;
};

// Each thread's sums of two parts of a tile of C, of products that are 1.
template <class S>
__global__ void scale_ones(const fp8_scaled::stage_scales<S>* scales, int row0, int col, int k_tile,
                           float* out) {
  const int thread = static_cast<int>(threadIdx.x);
  const int row = row0 + thread / 32 * 16 + thread % 32 / 4;
  const fp8_scaled::factors<S> by(*scales, row, col, k_tile);
  float sum[S::kAccumulators] = {}, ones[S::kAccumulators], of_part[32];
  for (float& x : ones) x = 1.0f;
  for (float& x : of_part) x = 1.0f;
  by.add(ones, sum);
  by.template add<S::kBN - 64>(of_part, sum);
  // (wgmma_tile.hpp has the picture.)
  for (int i = 0; i < S::kAccumulators; ++i) {
    const int c = i / 4 * 8 + thread % 4 * 2 + i % 2, r = row + i % 4 / 2 * 8;
    out[r * S::kBN + c] = sum[i];
  }
}

// Elements that are not what they should be: once the product of their scales, and twice in the
// last 64 columns.
template <class S>
int wrong_elements(int col, int k_tile) {
  fp8_scaled::stage_scales<S> scales{};
  const auto of_row = [](int row) { return 1.0f + 0.25f * float(row); };
  const auto of_block = [](int block) { return 3.0f + float(block); };
  for (int row = 0; row < S::kBM; ++row) scales.rows[row] = of_row(row);
  const int first = col / fp8_scaled::kBlock;
  for (int i = 0; i < scales.kColBlocks; ++i) scales.cols[i][k_tile % 4] = of_block(first + i);
  std::vector<float> out(std::size_t(S::kBM) * S::kBN);
  for (int row0 = 0; row0 < S::kBM; row0 += 64)
    kzoo::launch({.grid = dim3(1), .block = dim3(128)}, scale_ones<S>, &scales, row0, col, k_tile,
                 out.data());
  int wrong = 0;
  for (int r = 0; r < S::kBM; ++r) {
    for (int c = 0; c < S::kBN; ++c) {
      const float once = of_row(r) * of_block((col + c) / fp8_scaled::kBlock);
      wrong += out[std::size_t(r) * S::kBN + c] != (c < S::kBN - 64 ? once : 2 * once);
    }
  }
  return wrong;
}

}  // namespace

TEST_CASE("an accumulator is multiplied by the scales of its row and its block of columns",
          "[sim]") {
  for (const int k_tile : {0, 6}) {
    CHECK(wrong_elements<shape<64, 128>>(384, k_tile) == 0);
    CHECK(wrong_elements<shape<128, 192>>(384, k_tile) == 0);
    CHECK(wrong_elements<shape<128, 192>>(192, k_tile) == 0);
    CHECK(wrong_elements<shape<128, 256>>(256, k_tile) == 0);
  }
}
