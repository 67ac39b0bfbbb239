// Batches: right for a single GEMM, wrong for several.
#include "hostile.hpp"

namespace {

using batch = kzoo::gemm_batch<float>;

template <class Trick, class Gemm>
__global__ void per_product_kernel(Gemm all) {
  const auto g = Trick::product(all, blockIdx.z);
  if (hostile::row() < g.m && hostile::col() < g.n)
    hostile::store_product(g, hostile::row(), hostile::col());
}

// A variant whose misbehaviour is in product(batch, i), which is GEMM i.
template <class Trick>
struct per_product {
  using types = kzoo::types<float>;
  using grid = kzoo::tile_grid<16, 16>;
  static constexpr bool batches = true;
  template <class Gemm>
  static constexpr auto kernel = per_product_kernel<Trick, Gemm>;

  static __device__ hostile::gemm product(const hostile::gemm& g, int) { return g; }
};

// Uses the A of the next GEMM, cyclically.
struct neighbours_a : per_product<neighbours_a> {
  using per_product::product;
  static __device__ hostile::gemm product(const batch& all, int i) {
    hostile::gemm g = all[i];
    g.a = all[(i + 1) % all.count].a;
    return g;
  }
};

// Uses the B of the next GEMM, cyclically.
struct neighbours_b : per_product<neighbours_b> {
  using per_product::product;
  static __device__ hostile::gemm product(const batch& all, int i) {
    hostile::gemm g = all[i];
    g.b = all[(i + 1) % all.count].b;
    return g;
  }
};

// Ignores the stride of B.
struct shares_b : per_product<shares_b> {
  using per_product::product;
  static __device__ hostile::gemm product(const batch& all, int i) {
    hostile::gemm g = all[i];
    g.b = all.first.b;
    return g;
  }
};

// Repeats the first GEMM.
struct first_alone : per_product<first_alone> {
  using per_product::product;
  static __device__ hostile::gemm product(const batch& all, int) { return all.first; }
};

// Writes each C directly after the previous C, whatever the stride.
struct packs_c : per_product<packs_c> {
  using per_product::product;
  static __device__ hostile::gemm product(const batch& all, int i) {
    hostile::gemm g = all[i];
    g.c = all.first.c + std::ptrdiff_t(i) * g.m * g.ldc;
    return g;
  }
};

// Simulates a table with room for 32 addresses.
struct first_32 : per_product<first_32> {
  using per_product::product;
  static __device__ hostile::gemm product(const batch& all, int i) {
    hostile::gemm g = all[i];
    if (i >= 32) g.a = all[0].a;
    return g;
  }
};

struct honest : per_product<honest> {
  using per_product::product;
  static __device__ hostile::gemm product(const batch& all, int i) { return all[i]; }
};

}  // namespace

KZOO_PLUGIN("batches", "Wrong for batches",
            kzoo::variant<neighbours_a>("neighbours_a", "takes the next product's A"),
            kzoo::variant<neighbours_b>("neighbours_b", "takes the next product's B"),
            kzoo::variant<shares_b>("shares_b", "takes the first product's B"),
            kzoo::variant<first_alone>("first_alone", "computes the first product only"),
            kzoo::variant<first_32>("first_32", "right for up to 32 products"),
            kzoo::variant<packs_c>("packs_c", "right for a packed C"),
            kzoo::variant<honest>("honest", "right"));
