#pragma once
// split_k's kernel after the copies: tiles of any size, the last wave shared as in stream_k.

#include <fast_fp32/common/simulated.hpp>
#include <fast_fp32/split_k/split_k.hpp>

#include "packing.hpp"

namespace repacked {

// The copies and the kernel, with a schedule that is decided elsewhere.
template <class Tile>
class product {
 public:
  static const char* supports(const kzoo_problem& p, const kzoo_device& d) {
    if (!packing(p, true).countable()) return "a copy of A and B has more than 2^30 tiles";
    const char* const reason = common::too_many_tiles<Tile>(p);
    return reason != nullptr ? reason : Tile::too_much_shared_memory(d);
  }
  // `all_for_sm_90`: launches may begin early.
  product(const packing& copies, const common::stream_k& work, bool all_for_sm_90 = false)
      : packing_(copies), work_(work), all_for_sm_90_(all_for_sm_90), product_(all_for_sm_90) {
    split_k::product<Tile>::prepare();
  }
  static std::size_t workspace_bytes(const packing& copies, const common::stream_k& work) {
    return copies.bytes() + split_k::product<Tile>::workspace_bytes(work);
  }
  template <kzoo::layout kLayout>
  void run(const kzoo::gemm<float, kLayout>& g, const kzoo_arguments& args) const {
    const auto stream = static_cast<kzoo::stream_t>(args.stream);
    kzoo::gemm<float> operands = packing_.pack(g, args.workspace, stream);
    kzoo::gemm<float> c = operands;
    c.n = g.n;
    // The kernel leaves out what it would add of zeros past K.
    if (work_.k_tiles * Tile::kBK - g.k > g.k / 16) operands.k = g.k;
    product_.run(operands, c, work_, static_cast<unsigned char*>(args.workspace) + packing_.bytes(),
                 stream, all_for_sm_90_ && packing_.any());
  }
  // Without copies: operands in any layout for which the kernel was prepared. A batch has one
  // launch, and needs a schedule that divides no tile.
  template <kzoo::layout kLayout>
  void run_in_place(const kzoo::gemm<float, kLayout>& g, const kzoo_arguments& args) const {
    run_in_place(kzoo::gemm_batch<float, kLayout>{g, 1, 0, 0, 0}, args);
  }
  template <kzoo::layout kLayout>
  void run_in_place(const kzoo::gemm_batch<float, kLayout>& all, const kzoo_arguments& args) const {
    const kzoo::gemm<float, kLayout>& g = all.first;
    const kzoo::gemm_batch<float> c{
        {g.m, g.n, g.k, 0, 0, g.ldc, nullptr, nullptr, g.c, g.alpha, g.beta},
        all.count,
        0,
        0,
        all.stride_c};
    product_.run(all, c, work_, args.workspace, static_cast<kzoo::stream_t>(args.stream));
  }

 private:
  packing packing_;
  common::stream_k work_;
  bool all_for_sm_90_;
  split_k::product<Tile> product_;
};

template <class Tile, bool kSimulated>
class variant : public common::simulated<kSimulated>, public product<Tile> {
 public:
  using layouts = kzoo::every_layout;
  static constexpr bool batches = true;  // one product after the other
  static constexpr unsigned compute_capability = 80;

  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d) {
    return product<Tile>::workspace_bytes(packing(p, true), common::make_stream_k<Tile>(p, d));
  }
  variant(const kzoo_problem& p, const kzoo_device& d)
      : product<Tile>(packing(p, true), common::make_stream_k<Tile>(p, d)) {}
};

}  // namespace repacked
