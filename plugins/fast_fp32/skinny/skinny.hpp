#pragma once
// Chooses between the kernels: by layout, alignment and how few rows or columns there are.

#include <fast_fp32/common/simulated.hpp>

#include "dots.hpp"
#include "strips.hpp"

namespace skinny {

enum class few { rows, columns };

// BlocksPerSm: into how many blocks for each SM the work is divided.
template <few kFew, int Stages, int BlocksPerSm>
class variant : public common::simulated<(BlocksPerSm > 2)> {
 public:
  using layouts = kzoo::every_layout;
  static constexpr bool batches = true;  // one product after the other
  static constexpr unsigned compute_capability = 80;

  static division division_of(const kzoo_problem& p, const kzoo_device& d) {
    return division::of(few_of(p), kFew == few::rows ? p.n : p.m, p.k, rows_for(few_of(p)),
                        BlocksPerSm, d);
  }
  static const char* supports(const kzoo_problem& p, const kzoo_device& d) {
    constexpr std::int64_t kMost = std::int64_t{1} << 20;  // rows: so that blocks can be counted
    if (few_of(p) > kMost) return "it has more than 2^20 of what should be few";
    return division_of(p, d).parts <= common::arrivals::kMostParts
               ? nullptr
               : "K is divided into more parts than gridDim.y can count";
  }
  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d) {
    return partial_sums::bytes(division_of(p, d), rows_for(few_of(p)));
  }
  variant(const kzoo_problem& p, const kzoo_device& d) : division_(division_of(p, d)) {
    with_tile(few_of(p), [&]<class Tile>(Tile) {
      for (const bool along_k : {false, true}) {
        kzoo::allow_dynamic_shared(kernel_for<Tile, true>(along_k), shared_bytes<Tile>());
        kzoo::allow_dynamic_shared(kernel_for<Tile, false>(along_k), shared_bytes<Tile>());
      }
    });
  }

  // `dependent`: it may overlap the launch before it, which must not write A or B.
  template <kzoo::layout kLayout>
  void run(const kzoo::gemm<float, kLayout>& g, const kzoo_arguments& arguments,
           bool dependent = false) const {
    const product p = kFew == few::rows ? few_rows(g) : few_columns(g);
    with_tile(p.few, [&]<class Tile>(Tile) {
      kzoo::launch(
          {.grid = dim3(division_.sums(), division_.parts),
           .block = dim3(kThreads),
           .dynamic_shared = shared_bytes<Tile>(),
           .max_threads = kThreads,
           .stream = static_cast<kzoo::stream_t>(arguments.stream),
           .dependent = dependent},
          p.aligned() ? kernel_for<Tile, true>(p.w_along_k) : kernel_for<Tile, false>(p.w_along_k),
          p, division_, partial_sums::in(arguments.workspace, division_, numbers_.next()));
    });
  }

 private:
  static std::int64_t few_of(const kzoo_problem& p) { return kFew == few::rows ? p.m : p.n; }
  static constexpr int rows_for(std::int64_t few) {
    return few <= 1 ? 1 : few <= 4 ? 4 : few <= 8 ? 8 : 16;
  }
  // Calls body(the tile for so many rows).
  template <class Body>
  static void with_tile(std::int64_t few, const Body& body) {
    switch (rows_for(few)) {
      case 1: return body(tiling<1, Stages>{});
      case 4: return body(tiling<4, Stages>{});
      case 8: return body(tiling<8, Stages>{});
      default: return body(tiling<16, Stages>{});
    }
  }
  template <class Tile, bool kAligned>
  static auto kernel_for(bool along_k) {
    return along_k ? dots_kernel<Tile, kAligned> : strips_kernel<Tile, kAligned>;
  }
  template <class Tile>
  std::size_t shared_bytes() const {
    const int used = Tile::kRows * division_.steps + kWarps * Tile::kRing + Tile::kSums;
    return sizeof(float) * std::max(used, kWarps * Tile::kSums);
  }

  division division_;
  persistent::run_numbers numbers_;
};

}  // namespace skinny
