// persistent for groups of rows, each with a B of its own, as a mixture of experts has them.

#include <algorithm>
#include <cstdint>

#include "kernel.hpp"

namespace grouped_persistent {

template <class Tile>
class variant : public common::on_hopper {
 public:
  using types = kzoo::types<__half, __nv_bfloat16>;
  using layouts = kzoo::layouts<kzoo::layout::nn, kzoo::layout::nt>;
  static constexpr bool groups = true;
  static constexpr kzoo::granularity granularity{.row_bytes = 16};

  static const char* supports(const kzoo_device& d) { return common::on_hopper::supports(d); }
  static const char* supports(const kzoo_problem& p, const kzoo_device&) {
    const std::int64_t rows_of_b = p.layout_b == KZOO_ROW_MAJOR ? p.k : p.n;
    if (p.groups > 1 && p.stride_b < rows_of_b * p.ldb)
      return "the B of one group has to end before that of the next begins";
    return p.alignment % 16 == 0 ? nullptr : "its matrices have to start at multiples of 16 bytes";
  }

  variant(const kzoo_problem& p, const kzoo_device& d)
      : clusters_(std::max(static_cast<int>(d.multiprocessors) / Tile::kCluster, 1)) {
    common::for_gemm_of(p, types{}, layouts{}, [](auto of) {
      using G = typename decltype(of)::type;
      using Groups = decltype(groups_of(G{}));
      constexpr std::size_t kBytes = shared_layout<G, Tile>::kBytes;
      kzoo::allow_dynamic_shared(kernel<Groups, Tile, true>, kBytes);
      kzoo::allow_dynamic_shared(kernel<Groups, Tile, false>, kBytes);
    });
  }

  template <class T, kzoo::layout kLayout>
  void run(const kzoo::grouped_gemm<T, kLayout>& grouped, const kzoo_arguments& arguments) const {
    using Groups = kzoo::grouped_gemm<T, kLayout>;
    using G = product_of<Groups>;
    const G& g = grouped.all;
    const bool by_tma = g.beta == 0.0f && kzoo::tma_storable(g.c, g.n, g.ldc);
    kzoo::launch({.grid = dim3(clusters_for(grouped) * Tile::kCluster),
                  .block = dim3(kBlockThreads<Tile>),
                  .dynamic_shared = shared_layout<G, Tile>::kBytes,
                  .max_threads = kBlockThreads<Tile>,
                  .stream = static_cast<kzoo::stream_t>(arguments.stream),
                  .cluster = dim3(Tile::kCluster)},
                 by_tma ? kernel<Groups, Tile, true> : kernel<Groups, Tile, false>,
                 operand_maps<G, Tile>::of(grouped),
                 by_tma ? tma_store::map_of_c(g) : tma_store::map_c_of<G>{}, grouped,
                 common::pairs_aligned(g));
  }

 private:
  // As many clusters as run at a time, or as there can be tiles: a group's last ones may have only
  // one row.
  template <class Groups>
  int clusters_for(const Groups& grouped) const {
    using walk = group_walk<Tile>;
    const std::int64_t rows = grouped.all.m / walk::kRows + std::min(grouped.count, grouped.all.m);
    const std::int64_t tiles = rows * kzoo::ceil_div(grouped.all.n, walk::kCols);
    return static_cast<int>(std::min<std::int64_t>(clusters_, tiles));
  }
  template <class T, kzoo::layout kLayout>
  static kzoo::grouped_gemm<T, kLayout> groups_of(const kzoo::gemm<T, kLayout>&);

  int clusters_;  // that the device runs at a time
};

}  // namespace grouped_persistent

using grouped_persistent::tiling;

KZOO_PLUGIN(
    "grouped_persistent", "Persistent blocks that go through the tiles of all groups",
    kzoo::variant<grouped_persistent::variant<tiling<64, 256, 5>>>(
        "64x256x64", "one consumer, 5 stages; for few rows in each group"),
    kzoo::variant<grouped_persistent::variant<tiling<128, 128, 6>>>("128x128x64",
                                                                    "two consumers, 6 stages"),
    kzoo::variant<grouped_persistent::variant<tiling<128, 256, 4>>>("128x256x64",
                                                                    "two consumers, 4 stages"),
    kzoo::variant<grouped_persistent::variant<tiling<128, 256, 4, 1, 2>>>(
        "128x256x64_1x2", "the same in clusters of two, which share rows of A"),
    kzoo::variant<grouped_persistent::variant<tiling<128, 256, 4, 2, 1>>>(
        "128x256x64_2x1", "the same in clusters of two, which share columns of B"));
