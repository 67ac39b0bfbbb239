// Grids of one block per tile of C, and the maps by which threads share a tile's elements.
#include <kzoo/plugin.hpp>

#include <tensor_cores/common/thread_map.hpp>

#include <set>
#include <utility>

#include "support/catch.hpp"

namespace {

constexpr int kMostY = 65535;

kzoo_problem extents_of(std::int64_t m, std::int64_t n) {
  return {.struct_size = sizeof(kzoo_problem),
          .m = m,
          .n = n,
          .k = 1,
          .lda = 1,
          .ldb = n,
          .ldc = n,
          .type_a = KZOO_F32,
          .type_b = KZOO_F32,
          .type_c = KZOO_F32,
          .layout_a = KZOO_ROW_MAJOR,
          .layout_b = KZOO_ROW_MAJOR,
          .layout_c = KZOO_ROW_MAJOR,
          .alpha = 1,
          .beta = 0,
          .alignment = 4,
          .scale_a = 0,
          .scale_b = 0,
          .batch = 0,
          .stride_a = 0,
          .stride_b = 0,
          .stride_c = 0,
          .operand_count = 0,
          .stage_count = 0,
          .operands = {},
          .epilogue = {},
          .scale_block_a = {},
          .scale_block_b = {},
          .groups = 0};
}

constexpr kzoo_device kCpu{sizeof(kzoo_device), KZOO_CPU, 0, 0, 0, 0, 1, 0};

// Writes which block an element of C is from.
__global__ void mark(kzoo::gemm<float> g) {
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int col = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  g.store_inside(row, col, 10.f * blockIdx.y + blockIdx.x);
}

struct marked {
  using grid = kzoo::tile_grid<2, 4>;
  static constexpr auto kernel = mark;
};

struct declines_too {
  using grid = kzoo::tile_grid<16, 16>;
  static const char* supports(const kzoo_problem& p, const kzoo_device&) {
    return p.k == 1 ? "k is 1" : nullptr;
  }
  void run(const kzoo::gemm<float>&, kzoo::stream_t) const {}
};

// Writes which product an element of C is from, and the sums of A and B that it sees.
template <class Gemm>
__global__ void mark_product(Gemm batch) {
  const auto g = batch[static_cast<int>(blockIdx.z)];
  g.store_inside(0, 0, 100 * static_cast<float>(blockIdx.z) + 10 * g.a_at(0, 0) + g.b_at(0, 0));
}

struct batched {
  using layouts = kzoo::layouts<kzoo::layout::nn, kzoo::layout::tt>;
  using grid = kzoo::tile_grid<1, 1>;
  static constexpr bool batches = true;
  template <class Gemm>
  static constexpr auto kernel = mark_product<Gemm>;
};

// Is called for one product after the other.
struct looped {
  static constexpr bool batches = true;
  void run(const kzoo::gemm<float>& g, kzoo::stream_t) const {
    g.store(0, 0, 10 * g.a_at(0, 0) + g.b_at(0, 0));
  }
};

struct on_a_gpu {
  static const char* supports(const kzoo_device&) { return "the simulator does not have it"; }
  void run(const kzoo::gemm<float>&, kzoo::stream_t) const {}
};

template <class V>
std::string reason(const kzoo_problem& p) {
  const kzoo_variant v = kzoo::variant<V>("id", "summary");
  char words[200] = "";
  kzoo_text text{words, sizeof words};
  const kzoo_status status = v.supports(&v, &p, &kCpu, &text);
  CHECK(status == (words[0] == '\0' ? KZOO_OK : KZOO_UNSUPPORTED));
  return words;
}

// The elements that the threads of a map load, with how often.
template <class Map, int kRows, int kCols>
bool covers_each_once(int threads) {
  std::set<std::pair<int, int>> seen;
  for (int t = 0; t < threads; ++t) {
    for (int i = 0; i < Map::kRowIterations; ++i) {
      for (int j = 0; j < Map::kColIterations; ++j) {
        for (int x = 0; x < Map::kWidth; ++x) {
          const int row = Map::row(t) + i * Map::kDown;
          const int col = Map::col(t) + j * Map::kAcross * Map::kWidth + x;
          if (row >= kRows || col >= kCols || !seen.insert({row, col}).second) return false;
        }
      }
    }
  }
  return seen.size() == std::size_t{kRows} * kCols;
}

}  // namespace

TEST_CASE("a grid declines more tiles than gridDim.y can count", "[tile_grid]") {
  using grid = kzoo::tile_grid<16, 8>;
  CHECK(grid::objection(extents_of(16 * kMostY, 8 * kMostY + 1)) == nullptr);
  CHECK(grid::objection(extents_of(16 * kMostY + 1, 8)) != nullptr);
  using transposed = kzoo::transposed_tile_grid<16, 8>;
  CHECK(transposed::objection(extents_of(16 * kMostY + 1, 8 * kMostY)) == nullptr);
  CHECK(transposed::objection(extents_of(16, 8 * kMostY + 1)) != nullptr);
}

TEST_CASE("a variant's grid is asked, and its own supports as well", "[tile_grid]") {
  CHECK(reason<declines_too>(extents_of(1, 1)) == "k is 1");
  CHECK(reason<declines_too>(extents_of(16 * kMostY + 1, 1)).find("gridDim.y") !=
        std::string::npos);
  kzoo_problem good = extents_of(16, 16);
  good.k = 2;
  good.lda = 2;
  CHECK(reason<declines_too>(good).empty());
}

TEST_CASE("a variant with a grid and a kernel is launched, for fp32 unless it says more",
          "[tile_grid]") {
  const kzoo_variant v = kzoo::variant<marked>("id", "summary");
  alignas(16) float a[4] = {}, b[8] = {}, c[3 * 8];
  kzoo_problem p = extents_of(3, 6);
  p.lda = 4;
  p.ldb = p.ldc = 8;
  void* instance = nullptr;
  REQUIRE(v.create(&v, &p, &kCpu, &instance, nullptr) == KZOO_OK);
  const kzoo_arguments args{sizeof(kzoo_arguments), a, b, c, nullptr, nullptr, nullptr, nullptr};
  REQUIRE(v.run(&v, instance, &args, nullptr) == KZOO_OK);
  v.destroy(&v, instance);
  CHECK(c[0] == 0);
  CHECK(c[5] == 1);           // row 0, column 5: the second block along N
  CHECK(c[2 * 8 + 4] == 11);  // and the second along M
  CHECK(v.signature_count == 1);
  p.type_a = p.type_b = p.type_c = KZOO_F64;
  CHECK(reason<marked>(p) == "it computes f32, not f64");
}

TEST_CASE("a variant gets a batch at once, or one product after the other", "[tile_grid]") {
  const float a[] = {1, 2, 3}, b[] = {7};
  float c[6] = {};
  kzoo_problem p = extents_of(1, 1);
  p.batch = 3;
  p.stride_a = 1;
  p.stride_c = 2;
  const auto run = [&](const kzoo_variant& v) {
    char words[200] = "";
    kzoo_text text{words, sizeof words};
    REQUIRE(v.supports(&v, &p, &kCpu, &text) == KZOO_OK);
    void* instance = nullptr;
    REQUIRE(v.create(&v, &p, &kCpu, &instance, nullptr) == KZOO_OK);
    const kzoo_arguments args{sizeof(kzoo_arguments), a, b, c, nullptr, nullptr, nullptr, nullptr};
    REQUIRE(v.run(&v, instance, &args, nullptr) == KZOO_OK);
    v.destroy(&v, instance);
  };
  run(kzoo::variant<batched>("id", "summary"));
  CHECK((c[0] == 17 && c[2] == 127 && c[4] == 237));
  CHECK((c[1] == 0 && c[3] == 0 && c[5] == 0));
  run(kzoo::variant<looped>("id", "summary"));
  CHECK((c[0] == 17 && c[2] == 27 && c[4] == 37));
  p.batch = 0;
  c[2] = 5;
  run(kzoo::variant<batched>("id", "summary"));
  CHECK((c[0] == 17 && c[2] == 5));
}

TEST_CASE("a batch is declined by variants that do not say that they take one", "[tile_grid]") {
  kzoo_problem p = extents_of(16, 16);
  p.batch = 2;
  p.k = 2;
  p.lda = 2;
  CHECK(reason<declines_too>(p) == "it computes one product at a time, not a batch");
  p.batch = kMostY + 1;
  CHECK(reason<batched>(p).find("gridDim.z") != std::string::npos);
}

TEST_CASE("what a variant needs of the device is said before the layout", "[tile_grid]") {
  kzoo_problem p = extents_of(16, 16);
  p.layout_a = KZOO_COLUMN_MAJOR;
  CHECK(reason<on_a_gpu>(p) == "the simulator does not have it");
  p.type_a = KZOO_F64;
  CHECK(reason<on_a_gpu>(p) == "it computes f32, not f64*f32->f32");
}

TEST_CASE("the threads of a map cover a tile", "[thread_map]") {
  using common::thread_map;
  CHECK(covers_each_once<thread_map<128, 8, 256, 4>, 128, 8>(256));
  CHECK(covers_each_once<thread_map<16, 256, 256, 4>, 16, 256>(256));
  CHECK(covers_each_once<thread_map<32, 64, 32, 1>, 32, 64>(32));  // a row takes two steps
  CHECK(covers_each_once<thread_map<128, 16, 256, 1, 8>, 128, 16>(256));
}
