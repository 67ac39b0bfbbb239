// What dispatch's model chooses: at shapes where it is plain which kernel is right, and that
// whatever it chooses takes the problem, at shapes of all kinds.
#include <fmt/format.h>
#include <fast_fp32/dispatch/model.hpp>

#include <cstdlib>
#include <fstream>
#include <random>
#include <string>

#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"

using namespace dispatch;

namespace {

const kzoo_device kH200 = [] {
  kzoo_device d{};
  d.struct_size = sizeof d;
  d.kind = KZOO_CUDA;
  d.compute_capability = 90;
  d.multiprocessors = 132;
  d.shared_bytes_per_block = 232448;
  return d;
}();

kzoo_problem problem(std::int64_t m, std::int64_t n, std::int64_t k,
                     kzoo::layout layout = kzoo::layout::nn) {
  const bool a = kzoo::is_a_transposed(layout), b = kzoo::is_b_transposed(layout);
  kzoo_problem p{};
  p.struct_size = sizeof p;
  p.m = m, p.n = n, p.k = k;
  p.lda = a ? m : k, p.ldb = b ? k : n, p.ldc = n;
  p.type_a = p.type_b = p.type_c = KZOO_F32;
  p.layout_a = a ? KZOO_COLUMN_MAJOR : KZOO_ROW_MAJOR;
  p.layout_b = b ? KZOO_COLUMN_MAJOR : KZOO_ROW_MAJOR;
  p.alpha = 1;
  p.alignment = 256;
  return p;
}

choice chosen_for(const kzoo_problem& p, bool may_split = false) {
  const model all(p, kH200, kHopper, may_split);
  REQUIRE_FALSE(all.candidates().empty());
  return all.likely().front();
}
choice chosen_for(std::int64_t m, std::int64_t n, std::int64_t k) {
  return chosen_for(problem(m, n, k));
}

// Why the chosen kernel does not take the problem, or nullptr.
const char* objection(const choice& c, const kzoo_problem& p) {
  switch (c.which) {
    case kernel::tiles:
      return with_tile(c.tile, [&]<class Tile>(std::type_identity<Tile>) {
        return repacked::product<Tile>::supports(p, kH200);
      });
    case kernel::pipelined: return pipelined_kernel::supports(p, kH200);
    case kernel::few_rows: return rows_kernel::supports(p, kH200);
    case kernel::few_columns: return columns_kernel::supports(p, kH200);
    case kernel::split_fp16: return nullptr;  // it takes all
    case kernel::rolled:
      return with_tile<rolled_types>(c.tile, [&]<class Tile>(std::type_identity<Tile>) {
        return rolled::product<Tile>::supports(p);
      });
    case kernel::general: return kzoo::tile_grid<16, 16>::objection(p);
  }
  return "it is no kernel";
}

}  // namespace

TEST_CASE("few rows and few columns go to the kernels for them", "[dispatch]") {
  CHECK(chosen_for(1, 8192, 8192).which == kernel::few_rows);
  CHECK(chosen_for(16, 8192, 8192).which == kernel::few_rows);
  CHECK(chosen_for(8192, 1, 8192).which == kernel::few_columns);
  CHECK(chosen_for(8192, 16, 8192).which == kernel::few_columns);
  CHECK(chosen_for(128, 8192, 8192).which == kernel::pipelined);
  CHECK(chosen_for(8192, 128, 8192).which == kernel::tiles);
  // Memory is the limit: no kernel is faster than the read of the large operand.
  CHECK(chosen_for(1, 8192, 8192).us > 4.0 * 8192 * 8192 / kHopper.dram_bytes_per_us);
}

TEST_CASE("large products are pipelined's, small ones get small tiles, a long K parts",
          "[dispatch]") {
  for (const int n : {3072, 4096, 8192, 16384}) {
    INFO(n);
    CHECK(chosen_for(n, n, n).which == kernel::pipelined);
  }
  // At 256 short code counts, at 512 there are blocks for all SMs.
  const choice at_256 = chosen_for(256, 256, 256), at_512 = chosen_for(512, 512, 512);
  CHECK(at_256.which == kernel::rolled);
  CHECK(with_tile<rolled_types>(at_256.tile, [&]<class Tile>(std::type_identity<Tile>) {
          return rolled::division::of<Tile>(problem(256, 256, 256), at_256.splits).tiles();
        }) >= 256 / 4);
  CHECK(at_512.which == kernel::tiles);
  CHECK(at_512.tile >= 3);  // 64 x 64 or smaller
  CHECK(schedule(problem(512, 512, 512), kH200, at_512.tile, at_512.splits).blocks() >= 512 / 4);
  CHECK(chosen_for(256, 256, 4096).splits > 1);
  const choice long_k = chosen_for(64, 64, 262144);
  CHECK(long_k.which == kernel::tiles);
  CHECK(long_k.splits != 1);
}

TEST_CASE("a larger product is never predicted to be faster", "[dispatch]") {
  double last = 0;
  for (int n = 128; n <= 8192; n *= 2) {
    const double us = chosen_for(n, n, n).us;
    INFO(n << ": " << us);
    CHECK(us > last);
    // Nor faster than the FMAs at the full rate.
    CHECK(us > 1.0 * n * n * n / (132 * kHopper.fmas_per_cycle * kHopper.cycles_per_us));
    last = us;
  }
}

TEST_CASE("ragged and transposed matrices are copied, or read 4 bytes at a time", "[dispatch]") {
  const choice ragged = chosen_for(4095, 4097, 4099);
  CHECK(ragged.which == kernel::tiles);
  CHECK(ragged.us > chosen_for(4096, 4096, 4096).us);
  CHECK(ragged.beyond.cols == 1);  // which would be a column of tiles
  // Beside it, the same without copies was a candidate.
  const kzoo_problem p = problem(4095, 4097, 4099);
  const model all(p, kH200, kHopper, false);
  for (const bool packed : {false, true}) {
    CHECK(std::any_of(all.candidates().begin(), all.candidates().end(), [&](const choice& c) {
      return c.which == kernel::tiles && c.packed == packed;
    }));
  }
  CHECK(chosen_for(problem(4096, 4096, 4096, kzoo::layout::tt)).us >
        chosen_for(4096, 4096, 4096).us);
}

TEST_CASE("rows and columns apart and whole tiles are all of C", "[dispatch]") {
  using tile = split_k::tiling<128, 64, 32, 64, 64, 16, 8, 4, 4, 1>;
  const auto count = [](std::int64_t m, std::int64_t n) {
    const kzoo_problem p = problem(m, n, 10);
    const std::vector<edges> all = edges_of<tile>(p);
    for (const edges& e : all) {
      const kzoo_problem whole = e.whole_tiles(p), bottom = e.bottom(p), right = e.right(p);
      CHECK(whole.m * whole.n + bottom.m * bottom.n + right.m * right.n == m * n);
      CHECK((e.rows == 0 || whole.m % tile::kBM == 0));
      CHECK((e.cols == 0 || whole.n % tile::kBN == 0));
    }
    return all.size();
  };
  CHECK(count(128, 64) == 1);
  CHECK(count(129, 64) == 2);
  CHECK(count(128, 65) == 2);
  CHECK(count(144, 80) == 4);
  CHECK(count(145, 81) == 1);
  CHECK(count(1, 1) == 1);

  float a[12]{}, b[20]{}, c[15]{};  // 3 x 4, 4 x 5, 3 x 5
  const kzoo::gemm<float> nn{3, 5, 4, 4, 5, 5, a, b, c, 1, 0};
  const auto part = part_of(nn, 1, 2, 3, 2);
  CHECK(part.m == 2);
  CHECK(part.n == 2);
  CHECK(&part.a_at(0, 0) == &nn.a_at(1, 0));
  CHECK(&part.b_at(0, 0) == &nn.b_at(0, 3));
  CHECK(part.c == c + 1 * 5 + 3);
  const kzoo::gemm<float, kzoo::layout::tt> tt{3, 5, 4, 3, 4, 5, a, b, c, 1, 0};
  CHECK(&part_of(tt, 1, 2, 3, 2).a_at(0, 2) == &tt.a_at(1, 2));
  CHECK(&part_of(tt, 1, 2, 3, 2).b_at(2, 0) == &tt.b_at(2, 3));
}

TEST_CASE("split_fp16 is chosen where it may be, and where it pays", "[dispatch]") {
  CHECK(chosen_for(problem(4096, 4096, 4096), true).which == kernel::split_fp16);
  CHECK(chosen_for(problem(4096, 4096, 4096, kzoo::layout::tt), true).which == kernel::split_fp16);
  CHECK(chosen_for(problem(256, 256, 256), true).which == kernel::rolled);
  CHECK(chosen_for(problem(512, 512, 512), true).which == kernel::tiles);
  CHECK(chosen_for(problem(1, 8192, 8192), true).which == kernel::few_rows);
  CHECK(chosen_for(problem(8192, 8192, 8), true).which != kernel::split_fp16);
}

TEST_CASE("a batch of small products is one launch", "[dispatch]") {
  kzoo_problem p = problem(16, 16, 16);
  p.batch = 1000;
  CHECK(chosen_for(p).which == kernel::general);
}

TEST_CASE("what is chosen takes the problem, and no model beats the hardware", "[dispatch]") {
  std::mt19937 numbers(1);
  const auto size = [&](int most) {  // as many small ones as large ones
    std::uniform_real_distribution<double> log(0, std::log2(most));
    return static_cast<std::int64_t>(std::exp2(log(numbers)));
  };
  for (int i = 0; i < 150; ++i) {
    kzoo_problem p = problem(size(1 << 17), size(1 << 17), size(1 << 17), kzoo::kLayouts[i % 4]);
    p.lda += i % 3, p.ldb += i % 5, p.ldc += i % 2;
    p.alignment = i % 7 == 0 ? 4 : 256;
    p.batch = i % 10 == 0 ? size(100) : 0;
    const bool may_split = i % 2 == 0;
    const model all(p, kH200, kHopper, may_split);
    REQUIRE_FALSE(all.candidates().empty());
    const choice c = all.likely().front();
    INFO(p.m << " x " << p.n << " x " << p.k << ", " << kzoo::layout_name(kzoo::layout_of(p))
             << ", kernel " << static_cast<int>(c.which) << ", tile " << c.tile);
    const char* const reason = objection(c, p);
    CHECK(std::string(reason == nullptr ? "" : reason).empty());
    if (c.which == kernel::tiles) {
      const common::stream_k work = schedule(c.beyond.whole_tiles(p), kH200, c.tile, c.splits);
      CHECK(work.blocks() > 0);
      CHECK((c.splits <= 1 || c.splits <= work.k_tiles / 2));
    }
    const double m = double(p.m), n = double(p.n), k = double(p.k);
    const double products = double(std::max<std::int64_t>(p.batch, 1));
    const double fmas_us =
        products * m * n * k / (132 * kHopper.fmas_per_cycle * kHopper.cycles_per_us);
    const double bytes_us = products * 4 * (m * k + k * n + m * n) / kHopper.dram_bytes_per_us;
    for (const choice& each : all.candidates()) {
      CHECK(std::isfinite(each.us));
      CHECK(each.us >= c.us);
      CHECK((each.us > fmas_us || each.which == kernel::split_fp16));
      CHECK(each.us > bytes_us * 0.99);
    }
  }
}

TEST_CASE("a trial is of the likely candidates, of several kinds", "[dispatch]") {
  for (const kzoo_problem& p : {problem(256, 256, 256), problem(838, 1166, 232, kzoo::layout::nt),
                                problem(26, 6602, 15383, kzoo::layout::nt)}) {
    const model all(p, kH200, kHopper, true);
    const std::vector<choice> likely = all.likely();
    REQUIRE(likely.size() > 3);
    CHECK(likely.size() <= 16);
    for (const choice& c : all.candidates()) CHECK(c.us >= likely.front().us);
    std::size_t kinds = 0;
    for (std::size_t i = 0; i < likely.size(); ++i) {
      if (i > 0) CHECK(likely[i].us >= likely[i - 1].us);
      CHECK(likely[i].us <= 1.6 * likely.front().us);
      const auto same = [&](const choice& c) { return alike(c, likely[i]); };
      const auto before = likely.begin() + static_cast<std::ptrdiff_t>(i);
      const auto others = std::count_if(likely.begin(), before, same);
      CHECK(others < 3);
      if (others == 0) ++kinds;
    }
    CHECK(kinds > 2);
  }
}

TEST_CASE("dispatch's README has what the model predicts", "[dispatch]") {
  const auto name = [](const choice& c) -> std::string {
    switch (c.which) {
      case kernel::few_rows: return "skinny, rows";
      case kernel::few_columns: return "skinny, columns";
      case kernel::pipelined: return "pipelined";
      case kernel::split_fp16: return "split_fp16";
      case kernel::general: return "smem";
      case kernel::rolled:
        return with_tile<rolled_types>(c.tile, [&]<class Tile>(std::type_identity<Tile>) {
          return fmt::format("rolled, {} x {} x {}{}", Tile::kBM, Tile::kBN, Tile::kBK,
                             c.splits > 1 ? fmt::format(", {} parts", c.splits) : "");
        });
      case kernel::tiles: break;
    }
    return with_tile(c.tile, [&]<class Tile>(std::type_identity<Tile>) {
      const std::string divided = c.splits == 0  ? ", stream-K"
                                  : c.splits > 1 ? fmt::format(", {} parts", c.splits)
                                                 : "";
      const edges& e = c.beyond;
      const std::string apart = e.rows > 0 || e.cols > 0
                                    ? fmt::format(", {} rows and {} columns apart", e.rows, e.cols)
                                    : "";
      return fmt::format("{} x {} x {}{}{}{}", Tile::kBM, Tile::kBN, Tile::kBK, divided,
                         c.packed ? ", copies" : "", apart);
    });
  };
  std::string table =
      "\n| M x N x K | `fp32` | us | `fp32_split` | us |\n|---|---|---:|---|---:|\n";
  struct size {
    int m, n, k;
  };
  for (const auto& [m, n, k] :
       {size{256, 256, 256}, size{512, 512, 512}, size{768, 768, 768}, size{1024, 1024, 1024},
        size{2048, 2048, 2048}, size{4096, 4096, 4096}, size{8192, 8192, 8192},
        size{16384, 16384, 16384}, size{1, 8192, 8192}, size{16, 8192, 8192}, size{8192, 16, 8192},
        size{128, 8192, 8192}, size{8192, 8192, 128}, size{512, 512, 65536}, size{64, 64, 262144},
        size{2049, 1537, 777}, size{4095, 4097, 4099}}) {
    const choice fp32 = chosen_for(m, n, k), split = chosen_for(problem(m, n, k), true);
    table += fmt::format("| {} x {} x {} | {} | {:.1f} | {} | {:.1f} |\n", m, n, k, name(fp32),
                         fp32.us, name(split), split.us);
  }
  const auto file =
      kzoo::test::source_folder() / "plugins" / "fast_fp32" / "dispatch" / "README.md";
  std::string text = kzoo::test::read_text(file);
  const std::string before = text, begin = "<!-- choices -->\n", end = "\n<!-- /choices -->";
  const std::size_t from = text.find(begin), to = text.find(end);
  REQUIRE(from != std::string::npos);
  REQUIRE(to != std::string::npos);
  text.replace(from + begin.size(), to - from - begin.size(), table);
  if (std::getenv("KZOO_UPDATE_DOCS") != nullptr) {
    std::ofstream(file) << text;
    return;
  }
  INFO("KZOO_UPDATE_DOCS=1 ./zoo test -R dispatch writes it anew");
  CHECK(text == before);
}
