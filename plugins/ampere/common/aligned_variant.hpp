#pragma once
// The launches of kernels on tensor cores that copy 16 bytes of a row at a time: operands whose
// rows do not start and end at multiples of that are copied into the workspace first.

#include <kzoo/plugin.hpp>
#include <tensor_cores/common/for_gemm.hpp>
#include <tensor_cores/common/launch_tiles.hpp>
#include <tensor_cores/common/padded_copy.hpp>
#include <tensor_cores/common/store_pairs.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace common {

// Traits has a `tiling`, and for each G kBytes of shared memory and a kernel. The kernel's
// parameters are G, A and B as they are in memory, whether pairs of C's elements may be stored as
// one word, and how many tiles C has in a column and in a row. fp32 matrices are multiplied as
// TF32.
template <class Traits, class Types, class Layouts = kzoo::every_layout>
class aligned_variant {
  using Tile = typename Traits::tiling;

 public:
  using types = Types;
  using layouts = Layouts;
  template <class T>
  static constexpr kzoo_precision precision_of =
      std::is_same_v<T, float> ? KZOO_COMPUTE_TF32 : kzoo::element_traits<T>::precision;

  static constexpr unsigned compute_capability = 80;
  static const char* supports(const kzoo_problem& p, const kzoo_device& d) {
    std::size_t needed = 0;
    for_gemm_of(p, types{}, layouts{},
                [&](auto of) { needed = Traits::template kBytes<typename decltype(of)::type>; });
    return d.kind == KZOO_CPU || needed <= d.shared_bytes_per_block
               ? nullptr
               : "its stages need more shared memory than a block of this device can have";
  }
  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device&) {
    return copies_bytes(p, [&](std::int64_t row_length, std::int64_t cols, kzoo_type type) {
      return needs_copy(p, row_length, type) || cols * kzoo::type_bytes(type) % 16 != 0;
    });
  }

  aligned_variant(const kzoo_problem& p, const kzoo_device& d)
      : multiprocessors_(static_cast<int>(d.multiprocessors)) {
    for_gemm_of(p, types{}, layouts{}, [](auto of) {
      using G = typename decltype(of)::type;
      kzoo::allow_dynamic_shared(Traits::template kernel<G>, Traits::template kBytes<G>);
    });
  }

  template <class G>
  void run(const G& g, const kzoo_arguments& arguments) const {
    const auto stream = static_cast<kzoo::stream_t>(arguments.stream);
    const auto needs = [](const auto& operand) {
      constexpr int kVector = 16 / int(sizeof(*operand.data));
      return reinterpret_cast<std::uintptr_t>(operand.data) % 16 != 0 ||
             operand.row_length % kVector != 0 || operand.cols % kVector != 0;
    };
    bool copied = false;
    const G of = with_copies(g, needs, arguments.workspace, multiprocessors_, stream, copied);
    launch_tiles<Tile>(Traits::template kernel<G>, of, Tile::kThreads, Traits::template kBytes<G>,
                       stream, of, a_of(of), b_of(of), pairs_aligned(of));
  }

 private:
  int multiprocessors_;
};

}  // namespace common
