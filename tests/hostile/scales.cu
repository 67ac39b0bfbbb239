// Block scales: right with one scale per matrix, wrong with a scale per block.
#include "hostile.hpp"

namespace {

using types = kzoo::to<__nv_fp8_e4m3, float>;
using scaled = kzoo::scaled_gemm<types, kzoo::layout::nt>;

template <class Trick>
__global__ void scaled_kernel(scaled g) {
  const int row = hostile::row(), col = hostile::col();
  if (row >= g.m || col >= g.n) return;
  float acc = 0;
  for (int k = 0; k < g.k; ++k)
    acc += g.product(g.a_at(row, k), g.b_at(k, col)) * Trick::scale(g, row, k, col);
  g.store(row, col, acc);
}

// A variant whose misbehaviour is in scale(g, row, k, col).
template <class Trick>
struct scaled_by {
  static constexpr bool block_scales = true;
  using types = kzoo::types<::types>;
  using layouts = kzoo::layouts<kzoo::layout::nt>;
  using grid = kzoo::tile_grid<16, 16>;
  void run(const scaled& g, kzoo::stream_t stream) const {
    grid::launch(scaled_kernel<Trick>, g, stream);
  }
};

struct honest : scaled_by<honest> {
  static __device__ float scale(const scaled& g, int row, int k, int col) {
    return g.scale(row, k, col);
  }
};

struct left_out : scaled_by<left_out> {
  static __device__ float scale(const scaled&, int, int, int) { return 1; }
};

struct only_of_a : scaled_by<only_of_a> {
  static __device__ float scale(const scaled& g, int row, int k, int) {
    return g.scales_a.at(row, k);
  }
};

// The last block along K uses the first block's scale.
struct next_block : scaled_by<next_block> {
  static __device__ float scale(const scaled& g, int row, int k, int col) {
    return g.scales_a.at(row, (k + g.scales_a.depth) % g.k) * g.scales_b.at(col, k);
  }
};

// All of K uses its first block's scale, as with one scale per row.
struct first_block : scaled_by<first_block> {
  static __device__ float scale(const scaled& g, int row, int, int col) {
    return g.scale(row, 0, col);
  }
};

// Scales once, after the sum over K, by the loop's last scale.
struct after_all_of_k : scaled_by<after_all_of_k> {
  static __device__ float scale(const scaled& g, int row, int, int col) {
    return g.scale(row, g.k - 1, col);
  }
};

// All columns use the scales of the first block of B.
struct one_for_all_columns : scaled_by<one_for_all_columns> {
  static __device__ float scale(const scaled& g, int row, int k, int) { return g.scale(row, k, 0); }
};

// Limits scales to [1/4, 4].
struct limits_scales : scaled_by<limits_scales> {
  static __device__ float scale(const scaled& g, int row, int k, int col) {
    return limited(g.scales_a.at(row, k)) * limited(g.scales_b.at(col, k));
  }
  static __device__ float limited(float scale) { return fminf(fmaxf(scale, 0.25f), 4.0f); }
};

// Overwrites a scale of A that it does not need.
struct writes_scales : scaled_by<writes_scales> {
  static __device__ float scale(const scaled& g, int row, int k, int col) {
    if (row == 0 && col == 0 && k == 0) const_cast<float*>(g.scales_a.scales)[g.m] = 1;
    return g.scale(row, k, col);
  }
};

// Keeps the address of the first call's scales of B.
struct keeps_scales : scaled_by<keeps_scales> {
  void run(const scaled& g, kzoo::stream_t stream) const {
    if (kept == nullptr) kept = g.scales_b.scales;
    scaled other = g;
    other.scales_b.scales = kept;
    grid::launch(scaled_kernel<honest>, other, stream);
  }

  mutable const float* kept = nullptr;
};

}  // namespace

KZOO_PLUGIN("scales", "Right for products of one scale, wrong where each block has its own",
            kzoo::variant<honest>("honest", "right"),
            kzoo::variant<left_out>("left_out", "no scales"),
            kzoo::variant<only_of_a>("only_of_a", "no scales of B"),
            kzoo::variant<next_block>("next_block", "scales of A of the next block along K"),
            kzoo::variant<first_block>("first_block", "the first block's scales for all of K"),
            kzoo::variant<after_all_of_k>("after_all_of_k", "scaled once, after all of K"),
            kzoo::variant<one_for_all_columns>("one_for_all_columns", "one block along N"),
            kzoo::variant<limits_scales>("limits_scales", "scales from 1/4 to 4"),
            kzoo::variant<writes_scales>("writes_scales", "changes a scale"),
            kzoo::variant<keeps_scales>("keeps_scales", "the scales of the first call"));
