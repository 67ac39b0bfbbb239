#include "reference/product.hpp"

#include "data/rows.hpp"
#include "os/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace kzoo::reference {
namespace {

// A task computes a square block of C in steps of kDepth along k. With the largest blocks, both
// packed operands (1 MiB each) stay in the L2 cache, and each generated element is used 512 times.
constexpr std::int64_t kLargestBlock = 512, kSmallestBlock = 256, kDepth = 256;

constexpr std::int64_t blocks(std::int64_t count, std::int64_t size) {
  return (count + size - 1) / size;
}

// The largest blocks that keep all processors busy.
std::int64_t block_size(std::int64_t rows, std::int64_t cols) {
  std::int64_t size = kLargestBlock;
  while (size > kSmallestBlock && blocks(rows, size) * blocks(cols, size) < 2 * hardware_threads())
    size /= 2;
  return size;
}

struct range {
  std::int64_t begin, end;
  std::int64_t size() const { return end - begin; }
};
range block_of(std::int64_t index, std::int64_t size, std::int64_t count) {
  return {index * size, std::min(count, (index + 1) * size)};
}

// Packs tile after tile, ks.size() steps each, padded with zeros. `rows` are of one matrix A.
void pack(const data::scaled_matrix& a, std::int64_t product, std::span<const std::int64_t> rows,
          range ks, std::vector<a_step>& packed) {
  packed.assign(blocks(std::int64_t(rows.size()), kTileRows) * ks.size(), a_step{});
  std::vector<double> line(static_cast<std::size_t>(ks.size()));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    data::read_row(a, product, {rows[r], ks.begin}, line);
    a_step* tile = packed.data() + std::int64_t(r / kTileRows) * ks.size();
    for (const double x : line) (tile++)->values[r % kTileRows] = x;
  }
}

void pack(const data::scaled_matrix& b, std::int64_t product, range cols, range ks,
          std::vector<b_step>& packed) {
  packed.assign(blocks(cols.size(), kTileCols) * ks.size(), b_step{});
  std::vector<double> line(static_cast<std::size_t>(cols.size()));
  for (std::int64_t k = 0; k < ks.size(); ++k) {
    data::read_row(b, product, {ks.begin + k, cols.begin}, line);
    for (std::int64_t j = 0; j < cols.size(); ++j)
      packed[j / kTileCols * ks.size() + k].values[j % kTileCols] = line[std::size_t(j)];
  }
}

struct two {
  double high = 0, low = 0;
};

// x + y exactly.
constexpr two sum_of(double x, double y) {
  const double sum = x + y, part = sum - x;
  return {sum, (x - (sum - part)) + (y - part)};
}
// x * y exactly, unless 2^27 x overflows: each half has 26 bits.
constexpr two product_of(double x, double y) {
  constexpr double kSplit = 0x1p27 + 1;
  const double x_big = kSplit * x, y_big = kSplit * y;
  const double x_high = x_big - (x_big - x), y_high = y_big - (y_big - y);
  const double x_low = x - x_high, y_low = y - y_high;
  const double product = x * y;
  return {product, ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low};
}
constexpr two sum_of(two x, two y) {
  const two high = sum_of(x.high, y.high), low = sum_of(x.low, y.low);
  const two middle = sum_of(high.high, high.low + low.high);
  return sum_of(middle.high, middle.low + low.low);
}

// A task sums this many columns of all rows, in steps of kSteps along k.
constexpr std::int64_t kColumns = 64, kSteps = 256;

struct column_block {
  std::array<double, kColumns> high{}, low{}, magnitude{};
  std::array<double, kColumns> plain{};  // in fp64 alone: right if the result is not finite
};

// Four columns at a time with AVX2. Without FMAs: contracting product_of() would be wrong.
#if defined(__x86_64__)
[[gnu::target_clones("avx2", "default")]]
#endif
void add_terms(double a, const double* __restrict b, column_block& __restrict to) {
  for (std::size_t j = 0; j < kColumns; ++j) {
    const two sum = sum_of({to.high[j], to.low[j]}, product_of(a, b[j]));
    to.high[j] = sum.high;
    to.low[j] = sum.low;
    to.magnitude[j] += std::abs(a * b[j]);
    to.plain[j] += a * b[j];
  }
}

// Vector extensions of g++ and clang: + and * become SIMD instructions, and FMAs if the function
// that they are inlined into is compiled for a CPU with FMA.
struct bits128 {
  typedef double floats __attribute__((vector_size(16), may_alias));
  typedef std::int64_t words __attribute__((vector_size(16), may_alias));
};
struct bits256 {
  typedef double floats __attribute__((vector_size(32), may_alias));
  typedef std::int64_t words __attribute__((vector_size(32), may_alias));
};
struct bits512 {
  typedef double floats __attribute__((vector_size(64), may_alias));
  typedef std::int64_t words __attribute__((vector_size(64), may_alias));
};

// Computes Rows x Vectors accumulators at a time, as many as fit in registers.
template <class Simd, int Rows, int Vectors>
[[gnu::always_inline]] inline void sum_tile(const a_step* a, const b_step* b, std::int64_t depth,
                                            tile_sums& out) {
  using floats = typename Simd::floats;
  using words = typename Simd::words;
  constexpr std::ptrdiff_t kLanes = sizeof(floats) / sizeof(double);
  const words no_sign = words{} + INT64_MAX;
  for (int row = 0; row < kTileRows; row += Rows) {
    for (std::ptrdiff_t col = 0; col < kTileCols; col += Vectors * kLanes) {
      floats sums[Rows][Vectors] = {}, magnitudes[Rows][Vectors] = {};
      for (std::int64_t k = 0; k < depth; ++k) {
        floats x[Vectors], abs_x[Vectors];
#pragma GCC unroll 4
        for (int v = 0; v < Vectors; ++v) {
          x[v] = *reinterpret_cast<const floats*>(b[k].values + col + v * kLanes);
          abs_x[v] = reinterpret_cast<floats>(reinterpret_cast<words>(x[v]) & no_sign);
        }
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r) {
          const double y = a[k].values[row + r];
          const double abs_y = __builtin_fabs(y);
#pragma GCC unroll 4
          for (int v = 0; v < Vectors; ++v) {
            sums[r][v] += y * x[v];
            magnitudes[r][v] += abs_y * abs_x[v];
          }
        }
      }
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
        for (int v = 0; v < Vectors; ++v) {
          const std::ptrdiff_t at = col + v * kLanes;
          *reinterpret_cast<floats*>(out.values[row + r] + at) = sums[r][v];
          *reinterpret_cast<floats*>(out.magnitudes[row + r] + at) = magnitudes[r][v];
        }
      }
    }
  }
}

void any_cpu(const a_step* a, const b_step* b, std::int64_t depth, tile_sums& out) {
  sum_tile<bits128, 2, 2>(a, b, depth, out);
}

#if defined(__x86_64__)
[[gnu::target("arch=x86-64-v3")]] void avx2(const a_step* a, const b_step* b, std::int64_t depth,
                                            tile_sums& out) {
  sum_tile<bits256, 2, 2>(a, b, depth, out);
}
[[gnu::target("arch=x86-64-v4")]] void avx512(const a_step* a, const b_step* b, std::int64_t depth,
                                              tile_sums& out) {
  sum_tile<bits512, 4, 2>(a, b, depth, out);
}
#endif

// Neighbouring selected rows of one matrix C with the same B.
struct row_range {
  std::int64_t product, b;
  std::int64_t begin, end;  // among the selected rows
};

// Divides the selected rows (ascending, numbered over the batch) into ranges of at most `most`.
std::vector<row_range> row_ranges(const operands& o, std::span<const std::int64_t> rows,
                                  std::int64_t most) {
  std::vector<row_range> ranges;
  for (std::int64_t r = 0; r < std::int64_t(rows.size()); ++r) {
    const std::int64_t row = rows[std::size_t(r)], product = row / o.c.rows, b = b_of_row(o, row);
    const bool is_next = !ranges.empty() && ranges.back().product == product &&
                         ranges.back().b == b && r - ranges.back().begin < most;
    if (!is_next) ranges.push_back({product, b, r, r});
    ranges.back().end = r + 1;
  }
  return ranges;
}

}  // namespace

void add_products(const operands& o, std::span<const std::int64_t> rows, std::span<double> sums,
                  std::span<float> magnitudes) {
  const std::int64_t depth = data::op_cols(o.a), b_cols = data::op_cols(o.b);
  const std::int64_t size = block_size(std::int64_t(rows.size()), b_cols);
  const std::vector<row_range> row_blocks = row_ranges(o, rows, size);
  const std::int64_t col_blocks = blocks(b_cols, size);
  const tile_function sum_tile = usable_tiles().front();
  for_each_block(std::int64_t(row_blocks.size()) * col_blocks, [&](std::int64_t block) {
    const auto [product, of_b, first, end] = row_blocks[std::size_t(block / col_blocks)];
    const range cols = block_of(block % col_blocks, size, b_cols);
    std::vector<std::int64_t> own_rows;
    for (std::int64_t r = first; r < end; ++r)
      own_rows.push_back(rows[std::size_t(r)] - product * o.c.rows);
    const std::int64_t row_count = end - first;
    std::vector<a_step> packed_a;
    std::vector<b_step> packed_b;
    tile_sums tile;
    for (std::int64_t k = 0; k < depth; k += kDepth) {
      const range ks = {k, std::min(depth, k + kDepth)};
      pack(o.a, product, own_rows, ks, packed_a);
      pack(o.b, of_b, cols, ks, packed_b);
      for (std::int64_t j = 0; j < cols.size(); j += kTileCols) {
        for (std::int64_t i = 0; i < row_count; i += kTileRows) {
          sum_tile(packed_a.data() + i / kTileRows * ks.size(),
                   packed_b.data() + j / kTileCols * ks.size(), ks.size(), tile);
          for (std::int64_t r = 0; r < std::min<std::int64_t>(kTileRows, row_count - i); ++r) {
            const std::int64_t at = (first + i + r) * b_cols + cols.begin + j;
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

void precise_result(const operands& o, const scalars& s, std::span<const std::int64_t> rows,
                    std::span<double> values, std::span<float> magnitudes) {
  const std::int64_t n = data::op_cols(o.b), depth = data::op_cols(o.a);
  const std::vector<row_range> products = row_ranges(o, rows, std::int64_t(rows.size()));
  const std::int64_t across = (n + kColumns - 1) / kColumns;
  for_each_block(std::int64_t(products.size()) * across, [&](std::int64_t block) {
    const auto [product, of_b, first, end] = products[std::size_t(block / across)];
    const std::int64_t begin = block % across * kColumns, count = std::min(kColumns, n - begin);
    std::vector<column_block> sums(std::size_t(end - first));
    std::vector<double> a, b(std::size_t(kSteps * kColumns));  // columns past the last hold zeros
    for (std::int64_t k0 = 0; s.alpha != 0 && k0 < depth; k0 += kSteps) {
      const std::int64_t steps = std::min(kSteps, depth - k0);
      for (std::int64_t k = 0; k < steps; ++k)
        data::read_row(o.b, of_b, {k0 + k, begin},
                       std::span(b).subspan(std::size_t(k * kColumns), std::size_t(count)));
      a.resize(std::size_t(steps));
      for (std::size_t r = 0; r < sums.size(); ++r) {
        const std::int64_t row = rows[std::size_t(first) + r] - product * o.c.rows;
        data::read_row(o.a, product, {row, k0}, a);
        for (std::size_t k = 0; k < a.size(); ++k)
          add_terms(a[k], b.data() + std::int64_t(k) * kColumns, sums[r]);
      }
    }
    for (auto r = std::size_t(first); r < std::size_t(end); ++r) {
      for (std::int64_t j = 0; j < count; ++j) {
        const column_block& from = sums[r - std::size_t(first)];
        const auto col = std::size_t(j);
        const two scaled = product_of(s.alpha, from.high[col]);
        const two start = product_of(s.beta, initial_c(o, s, rows[r], begin + j));
        const two all = sum_of({scaled.high, scaled.low + s.alpha * from.low[col]}, start);
        const std::size_t at = r * std::size_t(n) + std::size_t(begin + j);
        const double plain =
            s.alpha * from.plain[col] + initial_c(o, s, rows[r], begin + j) * s.beta;
        values[at] = std::isfinite(plain) ? all.high + all.low : plain;
        magnitudes[at] = static_cast<float>(from.magnitude[col]);
      }
    }
  });
}

std::vector<tile_function> usable_tiles() {
  std::vector<tile_function> tiles;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v4")) tiles.push_back(avx512);
  if (__builtin_cpu_supports("x86-64-v3")) tiles.push_back(avx2);
#endif
  tiles.push_back(any_cpu);
  return tiles;
}

}  // namespace kzoo::reference
