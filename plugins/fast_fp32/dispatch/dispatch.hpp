#pragma once
// What was chosen, as something that runs.

#include <beyond_a_product/every_type/smem.hpp>
#include <fp32_from_tensor_cores/split_fp16/launches.hpp>

#include "model.hpp"

#include <optional>
#include <tuple>
#include <variant>

namespace dispatch {

// every_type's smem: any problem, a batch at once.
struct general {
  using grid = kzoo::tile_grid<16, 16>;

  template <class Gemm>
  void run(const Gemm& g, const kzoo_arguments& args) const {
    grid::launch(every_type::smem_kernel<16, Gemm>, g, static_cast<kzoo::stream_t>(args.stream));
  }
  template <class Batch>
  void run_at_once(const Batch& all, const kzoo_arguments& args) const {
    run(all, args);
  }
};

// A kernel for row-major operands, after the copies of those that are transposed.
template <class Kernel>
class after_copies {
 public:
  after_copies(const kzoo_problem& p, const kzoo_device& d) : packing_(p, false), kernel_(p, d) {}
  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d) {
    return repacked::packing(p, false).bytes() + Kernel::workspace_bytes(p, d);
  }
  template <kzoo::layout kLayout>
  void run(const kzoo::gemm<float, kLayout>& g, const kzoo_arguments& args) const {
    kzoo::gemm<float> of =
        packing_.pack(g, args.workspace, static_cast<kzoo::stream_t>(args.stream));
    of.n = g.n, of.k = g.k;  // without the padding
    kzoo_arguments rest = args;
    rest.workspace = static_cast<unsigned char*>(args.workspace) + packing_.bytes();
    kernel_.run(of, rest);
  }

 private:
  repacked::packing packing_;
  Kernel kernel_;
};

// split_fp16's `guarded`.
struct split_kernel : split_fp16::basic_variant<split_fp16::tiling<split_fp16::fp16_pair, 128, 6>,
                                                split_fp16::tiling<split_fp16::fp16_pair, 192, 5>> {
  split_kernel(const kzoo_problem&, const kzoo_device& d) : basic_variant(d, {0, true}) {}
};

// rolled's kernel, with so many parts of K.
template <class Tile>
struct short_code : rolled::product<Tile> {
  short_code(const kzoo_problem& p, int parts)
      : rolled::product<Tile>(kzoo::layout_of(p), rolled::division::of<Tile>(p, parts)) {}
};

using split = after_copies<split_kernel>;
using large = after_copies<pipelined_kernel>;

// Whole tiles, and what skinny computes beside them: these launches begin where the tiles leave SMs
// idle, since they read nothing that the tiles write. The first part of the workspace has copies,
// with the rest the launches take turns.
template <class Tile>
class tiled {
 public:
  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d, const choice& c) {
    const kzoo_problem whole = c.beyond.whole_tiles(p);
    const repacked::packing copies = c.copies(whole);
    std::size_t turns =
        split_k::product<Tile>::workspace_bytes(schedule(whole, d, c.tile, c.splits));
    if (c.beyond.rows > 0)
      turns = std::max(turns, rows_kernel::workspace_bytes(c.beyond.bottom(p), d));
    if (c.beyond.cols > 0)
      turns = std::max(turns, columns_kernel::workspace_bytes(c.beyond.right(p), d));
    return copies.bytes() + turns;
  }
  tiled(const kzoo_problem& p, const kzoo_device& d, const choice& c)
      : tiled(c, c.copies(c.beyond.whole_tiles(p)),
              schedule(c.beyond.whole_tiles(p), d, c.tile, c.splits)) {
    prepare(kzoo::layout_of(p));
    if (beyond_.rows > 0) bottom_.emplace(beyond_.bottom(p), d);
    if (beyond_.cols > 0) right_.emplace(beyond_.right(p), d);
  }
  template <kzoo::layout kLayout>
  void run(const kzoo::gemm<float, kLayout>& g, const kzoo_arguments& args) const {
    const int m = g.m - beyond_.rows, n = g.n - beyond_.cols;
    kzoo_arguments beside = args;
    beside.workspace = static_cast<unsigned char*>(args.workspace) + copies_bytes_;
    if (copies_bytes_ == 0) {
      tiles_.run_in_place(part_of(g, 0, m, 0, n), args);
    } else {
      tiles_.run(part_of(g, 0, m, 0, n), args);
    }
    if (bottom_) bottom_->run(part_of(g, m, beyond_.rows, 0, g.n), beside, true);
    if (right_) right_->run(part_of(g, 0, m, n, beyond_.cols), beside, true);
  }
  template <kzoo::layout kLayout>
  void run_at_once(const kzoo::gemm_batch<float, kLayout>& all, const kzoo_arguments& args) const {
    tiles_.run_in_place(all, args);
  }

 private:
  static void prepare(kzoo::layout layout) {
    const auto if_it_is = [&]<kzoo::layout kLayout>() {
      if (layout == kLayout) split_k::product<Tile>::template prepare<kLayout>();
    };
    [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
      (if_it_is.template operator()<kzoo::kLayouts[kIndex]>(), ...);
    }
    (std::make_index_sequence<kzoo::kLayouts.size()>{});
  }

  tiled(const choice& c, const repacked::packing& copies, const common::stream_k& work)
      : beyond_(c.beyond), copies_bytes_(copies.bytes()), tiles_(copies, work, true) {}

  edges beyond_;
  std::size_t copies_bytes_;
  repacked::product<Tile> tiles_;
  std::optional<rows_kernel> bottom_;
  std::optional<columns_kernel> right_;
};

// The chosen kernel for a problem.
template <bool kMaySplit>
class chosen {
 public:
  // Those that may be the fastest, the likeliest first; none where no kernel can do the problem.
  static std::vector<choice> likely(const kzoo_problem& p, const kzoo_device& d) {
    const std::optional<architecture> of = architecture_of(d);
    return of ? model(p, d, *of, kMaySplit).likely() : std::vector<choice>{};
  }
  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d, const choice& c) {
    switch (c.which) {
      case kernel::tiles:
        return with_tile(c.tile, [&]<class Tile>(std::type_identity<Tile>) {
          return tiled<Tile>::workspace_bytes(p, d, c);
        });
      case kernel::pipelined: return large::workspace_bytes(p, d);
      case kernel::rolled:
        return with_tile<rolled_types>(c.tile, [&]<class Tile>(std::type_identity<Tile>) {
          return rolled::product<Tile>::workspace_bytes(rolled::division::of<Tile>(p, c.splits));
        });
      case kernel::few_rows: return rows_kernel::workspace_bytes(p, d);
      case kernel::few_columns: return columns_kernel::workspace_bytes(p, d);
      case kernel::split_fp16:
        if constexpr (kMaySplit) return split::workspace_bytes(p, d);
        break;
      case kernel::general: break;
    }
    return 0;
  }

  chosen(const kzoo_problem& p, const kzoo_device& d, const choice& c) : at_once_(c.at_once) {
    switch (c.which) {
      case kernel::tiles:
        with_tile(c.tile, [&]<class Tile>(std::type_identity<Tile>) {
          kernel_.template emplace<tiled<Tile>>(p, d, c);
        });
        break;
      case kernel::pipelined: kernel_.template emplace<large>(p, d); break;
      case kernel::rolled:
        with_tile<rolled_types>(c.tile, [&]<class Tile>(std::type_identity<Tile>) {
          kernel_.template emplace<short_code<Tile>>(p, c.splits);
        });
        break;
      case kernel::few_rows: kernel_.template emplace<rows_kernel>(p, d); break;
      case kernel::few_columns: kernel_.template emplace<columns_kernel>(p, d); break;
      case kernel::split_fp16:
        if constexpr (kMaySplit) kernel_.template emplace<split>(p, d);
        break;
      case kernel::general: break;
    }
  }

  template <kzoo::layout kLayout>
  void run(const kzoo::gemm<float, kLayout>& g, const kzoo_arguments& args) const {
    std::visit([&](const auto& kernel) { kernel.run(g, args); }, kernel_);
  }
  template <kzoo::layout kLayout>
  void run(const kzoo::gemm_batch<float, kLayout>& all, const kzoo_arguments& args) const {
    const auto run_at_once = [&](const auto& kernel) {
      constexpr bool kCan = requires { kernel.run_at_once(all, args); };
      if constexpr (kCan) kernel.run_at_once(all, args);
      return kCan;
    };
    if (at_once_ && std::visit(run_at_once, kernel_)) return;
    for (int product = 0; product < all.products(); ++product) run(all[product], args);
  }

 private:
  template <class T, class R>
  struct kernels;
  template <class... Tile, class... Rolled>
  struct kernels<std::tuple<Tile...>, std::tuple<Rolled...>> {
    using fp32 = std::variant<general, rows_kernel, columns_kernel, large, tiled<Tile>...,
                              short_code<Rolled>...>;
    using with_split = std::variant<general, rows_kernel, columns_kernel, large, tiled<Tile>...,
                                    short_code<Rolled>..., split>;
  };

  std::conditional_t<kMaySplit, typename kernels<tile_types, rolled_types>::with_split,
                     typename kernels<tile_types, rolled_types>::fp32>
      kernel_;
  bool at_once_;
};

}  // namespace dispatch
