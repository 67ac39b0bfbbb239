#pragma once
// Variants with two kernels for f16 and bf16: where rows of A and B start and end at multiples of
// 16 bytes, a thread copies 16 bytes at a time; elsewhere single elements.

#include <kzoo/plugin.hpp>
#include <tensor_cores/common/for_gemm.hpp>
#include <tensor_cores/common/launch_tiles.hpp>
#include <tensor_cores/common/tile_copy.hpp>

namespace common {

struct from_sm80 {
  static constexpr unsigned compute_capability = 80;
  static const char* supports(const kzoo_device&) { return nullptr; }
};

// Traits has a `tiling`, kBytes of shared memory, and a kernel<G, kAligned> for each kzoo::gemm.
// Its parameters are G, and how many tiles C has in a column and in a row.
template <class Traits, class Device, class Types = kzoo::types<__half, __nv_bfloat16>,
          class Layouts = kzoo::layouts<kzoo::layout::nn>>
struct vector_variant : Device {
  using types = Types;
  using layouts = Layouts;
  using Device::supports;
  static const char* supports(const kzoo_device& d) {
    if (d.kind == KZOO_CUDA && Traits::kBytes > d.shared_bytes_per_block)
      return "its stages need more shared memory than a block of this device can have";
    return Device::supports(d);
  }
  vector_variant(const kzoo_problem& p, const kzoo_device&) {
    for_gemm_of(p, types{}, layouts{}, [](auto of) {
      using G = typename decltype(of)::type;
      kzoo::allow_dynamic_shared(Traits::template kernel<G, true>, Traits::kBytes);
      kzoo::allow_dynamic_shared(Traits::template kernel<G, false>, Traits::kBytes);
    });
  }
  template <class G>
  void run(const G& g, kzoo::stream_t stream) const {
    const bool aligned = rows_of_16_bytes(a_of(g)) && rows_of_16_bytes(b_of(g));
    launch_tiles<typename Traits::tiling>(
        aligned ? Traits::template kernel<G, true> : Traits::template kernel<G, false>, g,
        Traits::tiling::kThreads, Traits::kBytes, stream, g);
  }
};

}  // namespace common
