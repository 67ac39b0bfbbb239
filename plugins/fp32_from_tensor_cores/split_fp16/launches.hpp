#pragma once
// The two launches of a product, and what variants of all formats have in common.

#include <kzoo/plugin.hpp>
#include <tensor_cores/common/on_hopper.hpp>

#include "product.hpp"
#include "split_pass.hpp"

#include <bit>
#include <cmath>

namespace split_fp16 {

// What a variant chooses.
struct options {
  int interval;  // steps along K from one promotion to the next; 0: chosen by size
  bool guarded;
};

// Tensor cores truncate in one direction, so what they lose grows with the interval and with the
// products in it, and does not with K. What SGEMM loses grows with the root of K: this interval
// keeps the error below that. For few tiles libraries split K, which makes their errors smaller.
template <class Format>
int interval_for(int k, std::int64_t tiles, int clusters) {
  constexpr int kLongest = 256, kProducts = 3;
  const int factor = tiles < clusters ? 2 : tiles < 4 * clusters ? 3 : 4;
  const auto root = static_cast<unsigned>(factor * std::sqrt(static_cast<double>(k)));
  return std::min(static_cast<int>(std::bit_floor(root)), kLongest) * kProducts / Format::kProducts;
}

// How a product is computed. Where there is a tile for every fourth cluster at most, clusters share
// each tile, and promote as often as they can: libraries split K there, which makes their errors
// small, too.
template <class S>
struct strategy {
  schedule<S> work;
  int interval = 1;  // k tiles

  // `wanted`: interval in steps, 0: by size.
  strategy(std::int64_t m, std::int64_t n, std::int64_t k, int clusters, int wanted = 0)
      : work(m, n, k, clusters) {
    constexpr int kLeastShare = 8;  // k tiles
    constexpr int kFewTerms = 1024;
    const std::int64_t tiles = std::int64_t{work.rows} * work.cols;
    if (4 * tiles > clusters) {
      // With few terms there is no other error beside that of truncation. And two stages are too
      // few for products of two k tiles at a time.
      if (k > kFewTerms && S::kStages > 2) {
        if (wanted == 0)
          wanted = interval_for<typename S::Format>(static_cast<int>(k), tiles, clusters);
        interval = std::max(wanted / S::kBK, 1);
      }
      return;
    }
    const int some = static_cast<int>(tiles);
    const int shares = std::min(work.k_tiles / kLeastShare, clusters / some);
    work = schedule<S>(m, n, k, some * std::max(shares, 1));
  }
};

// C from the parts, with tiles of S.
template <class S>
class product {
  using F = typename S::Format;

 public:
  static std::size_t workspace_bytes(const kzoo_problem& p, int clusters) {
    const strategy<S> chosen(p.m, p.n, p.k, clusters);
    return parts<F>::bytes(p.m, p.n, p.k) + partial_sums<S>::bytes(chosen.work) +
           soft_barriers<S>::bytes(chosen.work);
  }
  static void prepare() { kzoo::allow_dynamic_shared(product_kernel<S>, kSharedBytes<S>); }
  static void run(const kzoo::gemm<float>& g, void* workspace, int clusters, options o,
                  unsigned long long number, kzoo::stream_t stream) {
    const auto p = parts<F>::in(workspace, g.m, g.n, g.k);
    const strategy<S> chosen(g.m, g.n, g.k, clusters, o.interval);
    const schedule<S>& work = chosen.work;
    const how h{chosen.interval, o.guarded, with_plain_stores(g)};
    auto* const after_sums = static_cast<unsigned char*>(p.end) + partial_sums<S>::bytes(work);
    const soft_barriers<S> soft{reinterpret_cast<unsigned*>(after_sums),
                                soft_barriers<S>::count_of(work)};
    split(g, p, {soft.arrived, soft.count}, clusters, number, stream);
    kzoo::launch({.grid = dim3(work.blocks()),
                  .block = dim3(S::kThreads),
                  .dynamic_shared = kSharedBytes<S>,
                  .max_threads = S::kThreads,
                  .stream = stream,
                  .cluster = dim3(S::kCluster),
                  .dependent = true},
                 product_kernel<S>, operand_maps<S>::of(p), g, p, work,
                 partial_sums<S>::in(p.end, work, number), soft, h);
  }
};

// Small: tiles for matrices of few tiles of Large.
template <class Small, class Large>
class basic_variant : public common::on_hopper {
 public:
  using types = kzoo::types<float>;
  static constexpr kzoo_precision precision = KZOO_COMPUTE_FP32_SPLIT;

  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d) {
    const int clusters = clusters_of(d);
    return has_few_tiles(p.m, p.n, clusters) ? product<Small>::workspace_bytes(p, clusters)
                                             : product<Large>::workspace_bytes(p, clusters);
  }

  void run(const kzoo::gemm<float>& g, const kzoo_arguments& arguments) const {
    const auto stream = static_cast<kzoo::stream_t>(arguments.stream);
    const auto run_product =
        has_few_tiles(g.m, g.n, clusters_) ? product<Small>::run : product<Large>::run;
    run_product(g, arguments.workspace, clusters_, options_, numbers_.next(), stream);
  }

 protected:
  basic_variant(const kzoo_device& d, options o) : clusters_(clusters_of(d)), options_(o) {
    product<Small>::prepare();
    product<Large>::prepare();
  }

 private:
  // Two blocks on two SMs are a cluster.
  static int clusters_of(const kzoo_device& d) {
    return std::max(static_cast<int>(d.multiprocessors) / 2, 1);
  }
  // Wide tiles need fewer bytes for each FMA, narrow ones leave fewer SMs idle at the end.
  static bool has_few_tiles(std::int64_t m, std::int64_t n, int clusters) {
    constexpr std::int64_t kWaves = 3, kCells = Large::kBM * Large::kClusterM * Large::kBN;
    return m * n < kWaves * clusters * kCells;
  }

  int clusters_;
  options options_;
  persistent::run_numbers numbers_;
};

}  // namespace split_fp16
