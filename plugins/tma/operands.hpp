#pragma once
// A and B as the copy engine knows them.

#include <kzoo/tma.hpp>
#include <wgmma/tile.hpp>

namespace tma {

// A parameter of the kernel. ATile and BTile are what one call of tma_load copies.
template <class ATile, class BTile>
struct operand_maps {
  kzoo::tensor_map<ATile> a;
  kzoo::tensor_map<BTile> b;

  template <class T>
  static operand_maps of(const kzoo::gemm<T>& g) {
    return {kzoo::make_tensor_map<ATile>(g.a, g.m, g.k, g.lda),
            kzoo::make_tensor_map<BTile>(g.b, g.k, g.n, g.ldb)};
  }

  __device__ __forceinline__ void prefetch() const {
    kzoo::prefetch(a);
    kzoo::prefetch(b);
  }
};

// Maps of whole k tiles.
template <class T, class S>
using tile_maps = operand_maps<typename wgmma::layout<T, S>::a_tile,  //
                               typename wgmma::layout<T, S>::b_tile>;

template <class T>
bool addressable(const kzoo::gemm<T>& g) {
  return kzoo::tma_addressable(g.a, g.lda) && kzoo::tma_addressable(g.b, g.ldb);
}

}  // namespace tma
