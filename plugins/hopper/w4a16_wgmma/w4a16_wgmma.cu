// w4a16's tiles with wgmma, which takes unpacked weights from registers and A from shared memory.

#include <tensor_cores/common/on_hopper.hpp>

#include <algorithm>

#include "kernel.hpp"

namespace w4a16 {

template <class Tile>
class on_wgmma : public common::on_hopper {
 public:
  static constexpr bool block_scales = true;
  using types = for_weights::types;
  using layouts = for_weights::layouts;
  static constexpr kzoo::granularity granularity = for_weights::granularity;

  static const char* supports(const kzoo_device& d) { return on_hopper::supports(d); }
  static const char* supports(const kzoo_problem& p, const kzoo_device& d) {
    if (p.m > std::int64_t{1} << 20) return "it takes up to 2^20 rows of A";
    return for_weights::objection(p, d, Tile::kSharedBytes);
  }
  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d) {
    return tile_parts::bytes(wgmma_division::of<Tile>(p, d), Tile::kSums);
  }
  on_wgmma(const kzoo_problem& p, const kzoo_device& d)
      : division_(wgmma_division::of<Tile>(p, d)) {
    for_weights::for_type(p, []<class T>(T) {
      kzoo::allow_dynamic_shared(wgmma_kernel<Tile, for_weights::gemm<T>>, Tile::kSharedBytes);
    });
  }

  template <kzoo::block_scaled G>
  void run(const G& g, const kzoo_arguments& arguments) const {
    kzoo::launch({.grid = dim3(division_.tiles, division_.parts),
                  .block = dim3(Tile::kThreads),
                  .dynamic_shared = Tile::kSharedBytes,
                  .max_threads = Tile::kThreads,
                  .stream = static_cast<kzoo::stream_t>(arguments.stream)},
                 wgmma_kernel<Tile, G>, g, division_,
                 tile_parts::in(arguments.workspace, division_, numbers_.next()),
                 common::pairs_aligned(g));
  }

 private:
  wgmma_division division_;
  persistent::run_numbers numbers_;
};

}  // namespace w4a16

using w4a16::on_wgmma;
using w4a16::wgmma_tile;

KZOO_PLUGIN("w4a16_wgmma", "Weights of 4 bits with block scales, unpacked into wgmma's registers",
            (kzoo::variant<on_wgmma<wgmma_tile<64, 6>>>("64x256", "tiles of 64 rows of A")),
            (kzoo::variant<on_wgmma<wgmma_tile<128, 4>>>("128x256", "tiles of 128 rows of A")));
