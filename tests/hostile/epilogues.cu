// Epilogues: right for alpha A B + beta C, wrong after it.
#include "hostile.hpp"

namespace {

using fused = kzoo::fused_gemm<float>;

template <class Trick>
__global__ void fused_kernel(fused g) {
  const int row = hostile::row(), col = hostile::col();
  if (row >= g.m || col >= g.n) return;
  const float ab = hostile::dot(g, row, col, g.k);
  float* const c = &g.c[row * g.ldc + col];
  *c = Trick::element(g, ab, g.beta == 0 ? 0 : g.beta * *c, row, col);
}

// A variant whose misbehaviour is in element(g, an element of A B, beta C there, row, col).
template <class Trick>
struct finished {
  static constexpr bool epilogues = true;
  using grid = kzoo::tile_grid<16, 16>;
  void run(const fused& g, kzoo::stream_t stream) const {
    grid::launch(fused_kernel<Trick>, g, stream);
  }
};

struct honest : finished<honest> {
  static __device__ float element(const fused& g, float ab, float c, int row, int col) {
    return g.finish(g.alpha * ab + c, row, col);
  }
};

struct left_out : finished<left_out> {
  static __device__ float element(const fused& g, float ab, float c, int, int) {
    return g.alpha * ab + c;
  }
};

// Applies the activation without operands.
struct without_bias : finished<without_bias> {
  static __device__ float element(const fused& g, float ab, float c, int row, int col) {
    kzoo::epilogue all = g.finish;
    for (int i = 0; i < all.count; ++i)
      if (all.stages[i].kind == KZOO_STAGE_ADD) all.stages[i] = all.stages[--all.count];
    return all(g.alpha * ab + c, row, col);
  }
};

struct in_reverse : finished<in_reverse> {
  static __device__ float element(const fused& g, float ab, float c, int row, int col) {
    float x = g.alpha * ab + c;
    for (int i = g.finish.count - 1; i >= 0; --i)
      x = kzoo::epilogue::applied(g.finish.stages[i], x, row, col);
    return x;
  }
};

struct before_beta : finished<before_beta> {
  static __device__ float element(const fused& g, float ab, float c, int row, int col) {
    return g.finish(g.alpha * ab, row, col) + c;
  }
};

struct before_alpha : finished<before_alpha> {
  static __device__ float element(const fused& g, float ab, float c, int row, int col) {
    return g.alpha * g.finish(ab, row, col) + c;
  }
};

// Swaps exact and approximate GELU.
struct other_gelu : finished<other_gelu> {
  static __device__ float element(const fused& g, float ab, float c, int row, int col) {
    kzoo::epilogue all = g.finish;
    for (int i = 0; i < all.count; ++i) {
      kzoo_stage_kind& kind = all.stages[i].kind;
      if (kind == KZOO_STAGE_GELU || kind == KZOO_STAGE_GELU_TANH)
        kind = KZOO_STAGE_GELU + KZOO_STAGE_GELU_TANH - kind;
    }
    return all(g.alpha * ab + c, row, col);
  }
};

// Uses the bias of the next column, cyclically.
struct next_bias : finished<next_bias> {
  static __device__ float element(const fused& g, float ab, float c, int row, int col) {
    return g.finish(g.alpha * ab + c, row, (col + 1) % g.n);
  }
};

// Changes the bias after using it.
struct writes_bias : finished<writes_bias> {
  static __device__ float element(const fused& g, float ab, float c, int row, int col) {
    const float x = honest::element(g, ab, c, row, col);
    if (row == 0 && col == 3)
      const_cast<float*>(static_cast<const float*>(g.finish.stages[0].operand))[col] += 1;
    return x;
  }
};

// Uses the address of the first call's bias.
struct keeps_bias : finished<keeps_bias> {
  void run(const fused& g, kzoo::stream_t stream) const {
    if (bias == nullptr) bias = g.finish.stages[0].operand;
    fused other = g;
    other.finish.stages[0].operand = bias;
    grid::launch(fused_kernel<honest>, other, stream);
  }

  mutable const void* bias = nullptr;
};

// Keeps a copy of the bias, renewed only when the first row of A changes.
__global__ void renew_kernel(fused g, float* copy) {
  float row = 0;
  for (int k = 0; k < g.k; ++k) row += static_cast<float>(k % 61 + 1) * g.a_at(0, k);
  if (copy[0] == row) return;
  copy[0] = row;
  for (int i = 0; i < g.n; ++i)
    copy[1 + i] = static_cast<const float*>(g.finish.stages[0].operand)[i];
}
struct stale_bias : finished<stale_bias> {
  void run(const fused& g, kzoo::stream_t stream) const {
    if (copy == nullptr) copy = hostile::never_freed<float>(1 + g.n);
    kzoo::launch({.grid = dim3(1), .block = dim3(1), .stream = stream}, renew_kernel, g, copy);
    fused other = g;
    other.finish.stages[0].operand = copy + 1;
    grid::launch(fused_kernel<honest>, other, stream);
  }

  mutable float* copy = nullptr;
};

struct cleans_nan : finished<cleans_nan> {
  static __device__ float element(const fused& g, float ab, float c, int row, int col) {
    const float x = honest::element(g, ab, c, row, col);
    return x == x ? x : 0;
  }
};

// Always clamps to [-1, 1].
struct fixed_limits : finished<fixed_limits> {
  static __device__ float element(const fused& g, float ab, float c, int row, int col) {
    kzoo::epilogue all = g.finish;
    for (int i = 0; i < all.count; ++i) {
      all.stages[i].low = -1;
      all.stages[i].high = 1;
    }
    return all(g.alpha * ab + c, row, col);
  }
};

// Omits the activation for small K.
struct only_adds_when_flat : finished<only_adds_when_flat> {
  static __device__ float element(const fused& g, float ab, float c, int row, int col) {
    float x = g.alpha * ab + c;
    for (int i = 0; i < g.finish.count; ++i)
      if (g.k >= 30 || g.finish.stages[i].kind == KZOO_STAGE_ADD)
        x = kzoo::epilogue::applied(g.finish.stages[i], x, row, col);
    return x;
  }
};

}  // namespace

KZOO_PLUGIN("epilogues", "Right for alpha A B + beta C, wrong after it",
            kzoo::variant<honest>("honest", "right"),
            kzoo::variant<left_out>("left_out", "no epilogue"),
            kzoo::variant<without_bias>("without_bias", "no operands"),
            kzoo::variant<in_reverse>("in_reverse", "its stages in reverse order"),
            kzoo::variant<before_beta>("before_beta", "the epilogue before beta C is added"),
            kzoo::variant<before_alpha>("before_alpha", "the epilogue before alpha"),
            kzoo::variant<other_gelu>("other_gelu", "tanh for erf"),
            kzoo::variant<next_bias>("next_bias", "the bias of the next column"),
            kzoo::variant<writes_bias>("writes_bias", "changes the bias"),
            kzoo::variant<keeps_bias>("keeps_bias", "the bias of the first call"),
            kzoo::variant<stale_bias>("stale_bias", "a copy of the bias, kept while A is the same"),
            kzoo::variant<cleans_nan>("cleans_nan", "0 for NaN"),
            kzoo::variant<fixed_limits>("fixed_limits", "clamps to -1 and 1 alone"),
            kzoo::variant<only_adds_when_flat>("only_adds_when_flat",
                                               "no activation where K is small"));
