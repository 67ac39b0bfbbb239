#pragma once
// A and B as the Tensor Memory Accelerator (TMA) knows them: tensor maps, and loads of k tiles.

#include <kzoo/tma.hpp>
#include <tensor_cores/common/launch_tiles.hpp>
#include <tensor_cores/common/padded_copy.hpp>
#include <tensor_cores/common/wgmma_tile.hpp>

#include <cstddef>
#include <cstdint>

namespace tma {

// A parameter of the kernel. ATile and BTile, of type wgmma::operand_tile, are what one TMA load
// copies.
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
  template <class KTile, class E>
  static auto map_of(const common::matrix_view<E>& from) {
    return kzoo::make_tensor_map<typename KTile::tile>(from.data, from.rows, from.cols,
                                                       from.row_length);
  }
};

// Maps of whole k tiles.
template <class G, class Tile>
using tile_maps = operand_maps<typename wgmma::smem_layout<G, Tile>::a_tile,
                               typename wgmma::smem_layout<G, Tile>::b_tile>;

// Starts to load the k tiles of A and B into a stage. One thread calls this.
template <class G, class Tile>
__device__ __forceinline__ void load_stage(const tile_maps<G, Tile>& maps,
                                           typename G::a_type* stage, int row, int col, int k,
                                           kzoo::mbarrier& arrived) {
  using Smem = wgmma::smem_layout<G, Tile>;
  arrived.arrive_and_expect(Smem::kStageBytes);
  kzoo::tma_load(maps.a, stage, Smem::a_tile::row(row, k), Smem::a_tile::col(row, k), arrived);
  kzoo::tma_load(maps.b, Smem::b_of(stage), Smem::b_tile::row(col, k), Smem::b_tile::col(col, k),
                 arrived);
}

// A base for the Traits of tile_variant, where the kernel has one block for each tile of C. Traits
// has kThreads, and for each G kBytes of shared memory and a kernel.
template <class Traits, class Tile>
struct block_per_tile {
  template <class G>
  static void prepare() {
    kzoo::allow_dynamic_shared(Traits::template kernel<G>, Traits::template kBytes<G>);
  }
  template <class G>
  static void launch(const G& g, int, kzoo::stream_t stream) {
    common::launch_tiles<Tile>(Traits::template kernel<G>, g, Traits::kThreads,
                               Traits::template kBytes<G>, stream, tile_maps<G, Tile>::of(g), g,
                               common::pairs_aligned(g));
  }
};

// A variant whose tiles TMA loads. Traits has prepare<G>() and launch(g, multiprocessors, stream).
// Operands with rows that TMA cannot address are copied first, into the workspace, to rows that it
// can.
template <class Traits>
class tile_variant : public wgmma::hopper_variant {
 public:
  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device&) {
    return common::copies_bytes(p, [&](std::int64_t row_length, std::int64_t, kzoo_type type) {
      return common::needs_copy(p, row_length, type);
    });
  }
  tile_variant(const kzoo_problem& p, const kzoo_device& d)
      : multiprocessors_(static_cast<int>(d.multiprocessors)) {
    common::for_gemm_of(p, types{}, layouts{},
                        [](auto of) { Traits::template prepare<typename decltype(of)::type>(); });
  }

  template <class G>
  void run(const G& g, const kzoo_arguments& arguments) const {
    const auto stream = static_cast<kzoo::stream_t>(arguments.stream);
    const auto needs = [](const auto& operand) {
      return !kzoo::tma_addressable(operand.data, operand.row_length);
    };
    bool copied = false;
    const G of =
        common::with_copies(g, needs, arguments.workspace, multiprocessors_, stream, copied);
    Traits::launch(of, multiprocessors_, stream);
  }

 private:
  int multiprocessors_;
};

}  // namespace tma
