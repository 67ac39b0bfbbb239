#pragma once
// Kernels with the usual element types and contents as constants: the generator (data/contents.hpp)
// then takes about thirty instructions instead of a few hundred.

#include "data/contents.hpp"
#include "data/scaled_matrix.hpp"

namespace kzoo::devices::cuda {

// A matrix with its element type and content as constants.
template <kzoo_type kType, data::content kInside>
struct fixed {
  __device__ static data::matrix of(data::matrix x) {
    x.type = kType;
    x.inside = kInside;
    return x;
  }
  // Usual types have no block scales.
  __device__ static data::scaled_matrix of(data::scaled_matrix x) {
    x.type = kType;
    x.inside = kInside;
    x.extent = 0;
    return x;
  }
};
struct not_fixed {
  template <class Matrix>
  __device__ static Matrix of(const Matrix& x) {
    return x;
  }
};

// Calls launch() with `fixed` or not_fixed.
template <class Launch>
constexpr void with_fixed(const data::matrix& x, const Launch& launch) {
  using enum data::content;
  if (x.inside == uniform) {
    if (x.type == KZOO_F32) return launch(fixed<KZOO_F32, uniform>{});
    if (x.type == KZOO_F16) return launch(fixed<KZOO_F16, uniform>{});
    if (x.type == KZOO_BF16) return launch(fixed<KZOO_BF16, uniform>{});
  }
  if (x.inside == poison) {
    if (x.type == KZOO_F32) return launch(fixed<KZOO_F32, poison>{});
    if (x.type == KZOO_F16) return launch(fixed<KZOO_F16, poison>{});
    if (x.type == KZOO_BF16) return launch(fixed<KZOO_BF16, poison>{});
  }
  launch(not_fixed{});
}

}  // namespace kzoo::devices::cuda
