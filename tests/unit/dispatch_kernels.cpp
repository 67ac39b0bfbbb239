// Whatever dispatch may choose computes the product, in the workspace that it asks for: each of the
// model's candidates runs in the simulator, also those that a small problem does not get.
#include <fast_fp32/dispatch/dispatch.hpp>

#include <algorithm>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "support/catch.hpp"

using namespace dispatch;

namespace {

// Small whole numbers: sums are exact in any order.
float element(std::size_t i) { return static_cast<float>(static_cast<int>(i * 37 % 11) - 5); }

std::vector<float> matrix(std::int64_t size) {
  std::vector<float> all(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = element(i);
  return all;
}

// The m x k and k x n matrices of g, multiplied: c = alpha A B + beta c.
template <class Gemm>
void multiply(const Gemm& g, float* c) {
  for (int row = 0; row < g.m; ++row) {
    for (int col = 0; col < g.n; ++col) {
      float sum = 0;
      for (int i = 0; i < g.k; ++i) sum += g.a_at(row, i) * g.b_at(i, col);
      float& out = c[row * g.ldc + col];
      out = g.alpha * sum + g.beta * out;
    }
  }
}

struct counts {
  int tiles = 0, pipelined = 0, with_edges = 0, with_copies = 0, skinny = 0, rolled = 0;
};

// `multiple`: of so many elements rows are, with what is between them.
template <kzoo::layout kLayout>
void run_candidates(int m, int n, int k, counts& ran, int multiple = 1) {
  constexpr bool kA = kzoo::is_a_transposed(kLayout), kB = kzoo::is_b_transposed(kLayout);
  kzoo_device d{};
  d.kind = KZOO_CPU;
  d = modelled(d);
  kzoo_problem p{};
  p.struct_size = sizeof p;
  p.m = m, p.n = n, p.k = k;
  p.lda = (kA ? m : k) + multiple, p.ldb = (kB ? k : n) + 2 * multiple, p.ldc = n + 3 * multiple;
  p.layout_a = kA ? KZOO_COLUMN_MAJOR : KZOO_ROW_MAJOR;
  p.layout_b = kB ? KZOO_COLUMN_MAJOR : KZOO_ROW_MAJOR;
  p.alpha = 2, p.beta = 3, p.alignment = 4 * multiple;
  const std::vector<float> a = matrix(p.lda * (kA ? k : m)), b = matrix(p.ldb * (kB ? n : k));
  const std::vector<float> before = matrix(p.ldc * m);

  kzoo::gemm<float, kLayout> g{m, n, k, p.lda, p.ldb, p.ldc, a.data(), b.data(), nullptr, 2, 3};
  std::vector<float> expected = before;
  multiply(g, expected.data());

  // One of each kind: undivided, two parts, stream-K.
  std::set<std::tuple<kernel, int, int, bool, int, int>> done;
  const model all(p, d, kHopper, false);
  for (const choice& c : all.candidates()) {
    if (c.splits > 2 ||
        !done.insert({c.which, c.tile, c.splits, c.packed, c.beyond.rows, c.beyond.cols}).second)
      continue;
    INFO(m << " x " << n << " x " << k << ", kernel " << static_cast<int>(c.which) << ", tile "
           << c.tile << ", " << c.splits << " parts, packed " << c.packed << ", edges "
           << c.beyond.rows << " and " << c.beyond.cols);
    const std::size_t bytes = chosen<false>::workspace_bytes(p, d, c);
    constexpr float kUntouched = 12345;
    std::vector<float> workspace(bytes / sizeof(float) + 128, kUntouched), out = before;
    void* start = workspace.data();
    std::size_t space = workspace.size() * sizeof(float);
    REQUIRE(std::align(256, bytes, start, space) != nullptr);
    kzoo_arguments args{};
    args.struct_size = sizeof args;
    args.workspace = start;
    g.c = out.data();
    chosen<false>(p, d, c).run(g, args);
    CHECK(out == expected);
    CHECK(std::all_of(static_cast<float*>(start) + bytes / sizeof(float),
                      workspace.data() + workspace.size(),
                      [](float x) { return x == kUntouched; }));
    ran.tiles += c.which == kernel::tiles;
    ran.pipelined += c.which == kernel::pipelined;
    ran.with_edges += c.beyond.rows > 0 && c.beyond.cols > 0;
    ran.with_copies += c.packed;
    ran.skinny += c.which == kernel::few_rows || c.which == kernel::few_columns;
    ran.rolled += c.which == kernel::rolled;
  }
}

// A batch, in one launch and one product after the other. `gap`: elements between products.
template <kzoo::layout kLayout>
int run_batch(int m, int n, int k, int gap) {
  constexpr bool kA = kzoo::is_a_transposed(kLayout), kB = kzoo::is_b_transposed(kLayout);
  constexpr int kProducts = 3;
  kzoo_device d{};
  d.kind = KZOO_CPU;
  d = modelled(d);
  kzoo_problem p{};
  p.struct_size = sizeof p;
  p.m = m, p.n = n, p.k = k, p.batch = kProducts;
  p.lda = kA ? m : k, p.ldb = kB ? k : n, p.ldc = n;
  p.stride_a = m * k + gap, p.stride_b = k * n + gap, p.stride_c = m * n + gap;
  p.layout_a = kA ? KZOO_COLUMN_MAJOR : KZOO_ROW_MAJOR;
  p.layout_b = kB ? KZOO_COLUMN_MAJOR : KZOO_ROW_MAJOR;
  p.alpha = 2, p.beta = 3, p.alignment = 16;
  p = modelled(p);
  const std::vector<float> a = matrix(p.stride_a * kProducts), b = matrix(p.stride_b * kProducts);
  const std::vector<float> before = matrix(p.stride_c * kProducts);
  kzoo::gemm_batch<float, kLayout> all{
      {m, n, k, p.lda, p.ldb, p.ldc, a.data(), b.data(), nullptr, 2, 3},
      kProducts,
      p.stride_a,
      p.stride_b,
      p.stride_c};
  std::vector<float> expected = before;
  for (int product = 0; product < kProducts; ++product)
    multiply(all[product], expected.data() + product * p.stride_c);
  int at_once = 0;
  std::set<std::tuple<kernel, int, int, bool>> done;
  const model candidates(p, d, kHopper, false);
  for (const choice& c : candidates.candidates()) {
    if (c.splits > 2 || !done.insert({c.which, c.tile, c.splits, c.at_once}).second) continue;
    INFO(m << " x " << n << " x " << k << ", kernel " << static_cast<int>(c.which) << ", tile "
           << c.tile << ", " << c.splits << " parts, at once " << c.at_once);
    std::vector<float> workspace(chosen<false>::workspace_bytes(p, d, c) / sizeof(float) + 64);
    std::vector<float> out = before;
    void* start = workspace.data();
    std::size_t space = workspace.size() * sizeof(float);
    kzoo_arguments args{};
    args.struct_size = sizeof args;
    args.workspace = std::align(256, 1, start, space);
    all.first.c = out.data();
    chosen<false>(p, d, c).run(all, args);
    CHECK(out == expected);
    at_once += c.at_once;
  }
  return at_once;
}

template <class Kernel>
concept takes_a_batch = requires(const Kernel& kernel, const kzoo::gemm_batch<float>& all,
                                 const kzoo_arguments& args) {
  kernel.run(all, args);
};

}  // namespace

TEST_CASE("each candidate of the model computes a batch", "[dispatch]") {
  CHECK(run_batch<kzoo::layout::nn>(36, 68, 32, 0) == kTiles + 1);  // and every_type's smem
  CHECK(run_batch<kzoo::layout::nn>(33, 35, 34, 1) == kTiles + 1);
  CHECK(run_batch<kzoo::layout::nt>(36, 68, 32, 0) == kTiles + 1);
  CHECK(run_batch<kzoo::layout::tn>(36, 36, 32, 0) == kTiles + 1);
  CHECK(run_batch<kzoo::layout::tt>(33, 35, 34, 1) == kTiles + 1);
  // The SDK would give it a whole batch, and its schedule may divide tiles.
  STATIC_REQUIRE(!takes_a_batch<repacked::variant<std::tuple_element_t<0, tile_types>, true>>);
}

TEST_CASE("each candidate of the model computes the product", "[dispatch]") {
  counts ran;
  run_candidates<kzoo::layout::nn>(65, 66, 70, ran);
  run_candidates<kzoo::layout::nt>(34, 67, 64, ran);
  run_candidates<kzoo::layout::tn>(67, 33, 65, ran);
  run_candidates<kzoo::layout::tt>(129, 65, 33, ran);
  run_candidates<kzoo::layout::nn>(65, 70, 34, ran, 2);
  run_candidates<kzoo::layout::tn>(66, 34, 70, ran, 2);
  run_candidates<kzoo::layout::nn>(65, 68, 64, ran, 4);
  run_candidates<kzoo::layout::tn>(36, 260, 48, ran, 4);
  run_candidates<kzoo::layout::nt>(130, 36, 48, ran, 4);
  CHECK(ran.tiles > 20);
  CHECK(ran.pipelined == 3);
  CHECK(ran.with_edges > 0);
  CHECK(ran.with_copies > 0);
  CHECK(ran.skinny > 0);
  CHECK(ran.rolled > 2 * kRolled);  // in parts, too
}
