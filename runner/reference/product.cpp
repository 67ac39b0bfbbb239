#include "reference/product.hpp"

#include "core/parallel.hpp"
#include "reference/formula.hpp"
#include "reference/product_tile.hpp"

#include <algorithm>
#include <vector>

namespace kzoo::reference {
namespace {

// A task computes this much of C in steps of kDepth along k, so that both packed operands (1 MiB
// each) stay in the L2 cache and the cost of generating each element is spread over 512 uses.
constexpr std::int64_t kBlockRows = 512, kBlockCols = 512, kDepth = 256;

constexpr std::int64_t blocks(std::int64_t count, std::int64_t size) {
  return (count + size - 1) / size;
}

struct range {
  std::int64_t begin, end;
  std::int64_t size() const { return end - begin; }
};
range block_of(std::int64_t index, std::int64_t size, std::int64_t count) {
  return {index * size, std::min(count, (index + 1) * size)};
}

// Packs tile after tile, ks.size() steps each; rows and columns past the end are 0.
void pack(const data::matrix& a, std::span<const std::int64_t> rows, range ks,
          std::vector<a_step>& packed) {
  packed.assign(blocks(std::int64_t(rows.size()), kTileRows) * ks.size(), a_step{});
  for (std::size_t r = 0; r < rows.size(); ++r) {
    a_step* const tile = packed.data() + std::int64_t(r / kTileRows) * ks.size();
    for (std::int64_t k = 0; k < ks.size(); ++k)
      tile[k].values[r % kTileRows] = element(a, rows[r], ks.begin + k);
  }
}

void pack(const data::matrix& b, range cols, range ks, std::vector<b_step>& packed) {
  packed.assign(blocks(cols.size(), kTileCols) * ks.size(), b_step{});
  for (std::int64_t k = 0; k < ks.size(); ++k) {
    for (std::int64_t j = 0; j < cols.size(); ++j)
      packed[j / kTileCols * ks.size() + k].values[j % kTileCols] =
          element(b, ks.begin + k, cols.begin + j);
  }
}

}  // namespace

void add_product(const data::matrix& a, std::span<const std::int64_t> rows, const data::matrix& b,
                 std::span<double> sums, std::span<float> magnitudes) {
  const std::int64_t depth = data::op_cols(a), b_cols = data::op_cols(b);
  const std::int64_t row_count = std::int64_t(rows.size());
  const std::int64_t col_blocks = blocks(b_cols, kBlockCols);
  const tile_function sum_tile = usable_tiles().front();
  for_each_block(blocks(row_count, kBlockRows) * col_blocks, [&](std::int64_t block) {
    const range block_rows = block_of(block / col_blocks, kBlockRows, row_count);
    const range cols = block_of(block % col_blocks, kBlockCols, b_cols);
    std::vector<a_step> packed_a;
    std::vector<b_step> packed_b;
    tile_sums tile;
    for (std::int64_t k = 0; k < depth; k += kDepth) {
      const range ks = {k, std::min(depth, k + kDepth)};
      pack(a, rows.subspan(block_rows.begin, block_rows.size()), ks, packed_a);
      pack(b, cols, ks, packed_b);
      for (std::int64_t j = 0; j < cols.size(); j += kTileCols) {
        for (std::int64_t i = 0; i < block_rows.size(); i += kTileRows) {
          sum_tile(packed_a.data() + i / kTileRows * ks.size(),
                   packed_b.data() + j / kTileCols * ks.size(), ks.size(), tile);
          for (std::int64_t r = 0; r < std::min<std::int64_t>(kTileRows, block_rows.size() - i);
               ++r) {
            const std::int64_t at = (block_rows.begin + i + r) * b_cols + cols.begin + j;
            for (std::int64_t c = 0; c < std::min<std::int64_t>(kTileCols, cols.size() - j); ++c) {
              sums[at + c] += tile.values[r][c];
              magnitudes[at + c] += static_cast<float>(tile.magnitudes[r][c]);
            }
          }
        }
      }
    }
  });
}

}  // namespace kzoo::reference
