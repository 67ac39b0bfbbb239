#pragma once
// The launches of a product: the kernel, before it copies of operands that TMA cannot address,
// after it the sum of the parts where K is split.

#include <tensor_cores/common/for_gemm.hpp>
#include <tensor_cores/common/padded_copy.hpp>

#include <algorithm>
#include <cstdint>

#include "clear_barriers.hpp"
#include "kernel.hpp"
#include "sum_parts.hpp"

namespace persistent {

// The kernel that a variant launches, with what it takes for a kzoo::gemm.
struct own_kernel {
  template <class G>
  using argument = G;
  template <class G, class Tile>
  static constexpr std::size_t kBytes = shared_layout<G, Tile>::kBytes;
  template <class G, class Tile, bool kByTma>
  static constexpr auto kernel = persistent::kernel<G, Tile, kByTma>;
};

// Tile is a `clustered`.
template <class Tile, class Types = wgmma::hopper_variant::types,
          class Layouts = kzoo::every_layout, class Kernel = own_kernel>
class variant : public wgmma::hopper_variant {
 public:
  using types = Types;
  using layouts = Layouts;

  variant(const kzoo_problem& p, const kzoo_device& d)
      : clusters_(clusters_of(d)), multiprocessors_(static_cast<int>(d.multiprocessors)) {
    common::for_gemm_of(p, types{}, layouts{}, [](auto of) {
      using G = typename Kernel::template argument<typename decltype(of)::type>;
      constexpr std::size_t kBytes = Kernel::template kBytes<G, Tile>;
      kzoo::allow_dynamic_shared(kernel_for<G>(false), kBytes);
      if constexpr (kCanStoreByTma<G>) kzoo::allow_dynamic_shared(kernel_for<G>(true), kBytes);
    });
  }

  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d) {
    const auto needs = [&](std::int64_t row_length, std::int64_t, kzoo_type type) {
      return common::needs_copy(p, row_length, type);
    };
    return sum_bytes(schedule<Tile>(p.m, p.n, p.k, clusters_of(d), true)) +
           common::copies_bytes(p, needs);
  }

  template <class G>
  void run(const G& g, const kzoo_arguments& arguments) const {
    const auto stream = static_cast<kzoo::stream_t>(arguments.stream);
    bool copied = false;
    const G of = with_copies(g, after_sums(g, arguments), stream, copied);
    multiply(of, arguments, copied);
  }

 protected:
  // The product of operands that TMA can address. `copied`: the launch before put them there.
  template <class G>
  void multiply(const G& g, const kzoo_arguments& arguments, bool copied) const {
    const auto stream = static_cast<kzoo::stream_t>(arguments.stream);
    const schedule<Tile> work(g.m, g.n, g.k, clusters_, true);
    const auto sums = partial_sums<Tile>::in(arguments.workspace, work, numbers_.next());
    const soft_barriers<Tile> soft{
        reinterpret_cast<unsigned*>(static_cast<unsigned char*>(arguments.workspace) +
                                    aligned(partial_sums<Tile>::bytes(work))),
        soft_barriers<Tile>::count_of(work)};
    if (soft.count > 0) launch_clear_barriers(soft, stream);
    const store_by how = way_to_store(g, work);
    const bool by_tma = how == store_by::tma;
    const auto map_c = by_tma ? tma_store::map_of_c(g) : tma_store::map_c_of<G>{};
    kzoo::launch({.grid = dim3(work.blocks()),
                  .block = dim3(kBlockThreads<Tile>),
                  .dynamic_shared = Kernel::template kBytes<G, Tile>,
                  .max_threads = kBlockThreads<Tile>,
                  .stream = stream,
                  .cluster = dim3(Tile::kCluster),
                  .dependent = copied || soft.count > 0},
                 kernel_for<G>(by_tma), parts<G, Tile>::maps::of(g), map_c, g, how, work, sums,
                 soft);
    if (work.splits > 1) launch_sum_parts<G>(g, work, sums, stream);
  }

  // The workspace: sums, soft barriers, then copies.
  static constexpr std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }
  static std::size_t sum_bytes(const schedule<Tile>& work) {
    return aligned(partial_sums<Tile>::bytes(work)) + aligned(soft_barriers<Tile>::bytes(work));
  }
  template <class G>
  unsigned char* after_sums(const G& g, const kzoo_arguments& arguments) const {
    return static_cast<unsigned char*>(arguments.workspace) +
           sum_bytes(schedule<Tile>(g.m, g.n, g.k, clusters_, true));
  }
  static int clusters_of(const kzoo_device& d) {
    return std::max(static_cast<int>(d.multiprocessors) / Tile::kCluster, 1);
  }

  int multiprocessors() const { return multiprocessors_; }

 private:
  template <class G>
  static constexpr bool kCanStoreByTma = tma_store::kByTma<typename G::c_type, Tile>;
  // The product with operands that TMA can address, and the launch that copies them there.
  template <class G>
  G with_copies(const G& g, unsigned char* to, kzoo::stream_t stream, bool& copied) const {
    if constexpr (sizeof(typename G::a_type) == 2) {
      const auto needs = [](const auto& operand) {
        return !kzoo::tma_addressable(operand.data, operand.row_length);
      };
      return common::with_copies(g, needs, to, multiprocessors_, stream, copied);
    } else {
      return g;
    }
  }

  template <class G>
  static store_by way_to_store(const G& g, const schedule<Tile>& work) {
    if (work.splits > 1) return store_by::second_launch;
    if (kCanStoreByTma<G> && g.beta == 0.0f && kzoo::tma_storable(g.c, g.n, g.ldc))
      return store_by::tma;
    return pairs_aligned(g) ? store_by::pairs : store_by::elements;
  }
  template <class G>
  static auto kernel_for(bool by_tma) {
    if constexpr (kCanStoreByTma<G>) {
      if (by_tma) return Kernel::template kernel<G, Tile, true>;
    }
    return Kernel::template kernel<G, Tile, false>;
  }

  int clusters_;  // that the device runs at a time
  int multiprocessors_;
  run_numbers numbers_;
};

}  // namespace persistent
