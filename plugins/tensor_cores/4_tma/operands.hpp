#pragma once
// A and B as the copy engine knows them.

#include <kzoo/tma.hpp>
#include <tensor_cores/3_wgmma/kernel.hpp>

namespace tma {

// A parameter of the kernel. ATile and BTile are what one call of load copies: wgmma::operand_tile.
template <class ATile, class BTile>
struct operand_maps {
  kzoo::tensor_map<typename ATile::tile> a;
  kzoo::tensor_map<typename BTile::tile> b;

  template <class G>
  static operand_maps of(const G& g) {
    return {map_of<ATile>(common::a_of(g)), map_of<BTile>(common::b_of(g))};
  }

  __device__ __forceinline__ void prefetch() const {
    kzoo::prefetch(a);
    kzoo::prefetch(b);
  }

 private:
  template <class Tile, class E>
  static auto map_of(const common::matrix<E>& from) {
    return kzoo::make_tensor_map<typename Tile::tile>(from.data, from.rows, from.cols,
                                                      from.row_length);
  }
};

// Maps of whole k tiles.
template <class G, class S>
using tile_maps =
    operand_maps<typename wgmma::layout<G, S>::a_tile, typename wgmma::layout<G, S>::b_tile>;

// Starts to load k tiles into a stage.
template <class G, class S>
__device__ __forceinline__ void load_stage(const tile_maps<G, S>& maps, typename G::a_type* stage,
                                           int row, int col, int k, kzoo::mbarrier& arrived) {
  using L = wgmma::layout<G, S>;
  arrived.arrive_and_expect(L::kStageBytes);
  kzoo::tma_load(maps.a, stage, L::a_tile::row(row, k), L::a_tile::col(row, k), arrived);
  kzoo::tma_load(maps.b, L::b_of(stage), L::b_tile::row(col, k), L::b_tile::col(col, k), arrived);
}

template <class G>
bool addressable(const G& g) {
  return kzoo::tma_addressable(g.a, g.lda) && kzoo::tma_addressable(g.b, g.ldb);
}

// A variant with a block for each tile of C. Step has `tiling`, kThreads, and for each G kBytes of
// shared memory and a kernel.
template <class Step>
class tile_variant : public wgmma::hopper_variant {
  using S = typename Step::tiling;
  // For matrices whose rows do not start at multiples of 16 bytes.
  using unaddressable = wgmma::launcher<wgmma::tiling<128, 128, 3, 2>, 1>;

 public:
  tile_variant(const kzoo_problem& p, const kzoo_device&) {
    unaddressable::prepare(p);
    common::for_gemm_of(p, types{}, layouts{}, [](auto of) {
      using G = typename decltype(of)::type;
      kzoo::allow_dynamic_shared(Step::template kernel<G>, Step::template kBytes<G>);
    });
  }

  template <class G>
  void run(const G& g, kzoo::stream_t stream) const {
    if (!addressable(g)) return unaddressable::run(g, stream);
    common::launch_tiles<S>(Step::template kernel<G>, g, Step::kThreads, Step::template kBytes<G>,
                            stream, tile_maps<G, S>::of(g), g, common::pairs_aligned(g));
  }
};

}  // namespace tma
