// fp32 products on fp16 tensor cores: each element as a sum of two fp16 numbers, each product as
// three, and what that cannot hold on CUDA cores.

#include <kzoo/plugin.hpp>

#include "product.hpp"
#include "split_pass.hpp"

namespace split_fp16 {

// The splitting pass: two launches. `flags` are words to set to 0.
inline void split(const kzoo::gemm<float>& g, const parts& p, unsigned long long* flags,
                  int flag_count, kzoo::stream_t stream) {
  const bool vec4_a = kzoo::tma_addressable(g.a, g.lda);
  const bool vec4_b = kzoo::tma_addressable(g.b, g.ldb) && g.n % 4 == 0;
  kzoo::launch({.grid = dim3(first_pass::blocks(g)),
                .block = dim3(first_pass::threads(g.k)),
                .max_threads = first_pass::kMostThreads,
                .stream = stream},
               vec4_a ? (vec4_b ? split_a_kernel<4, 4> : split_a_kernel<4, 1>)
                      : (vec4_b ? split_a_kernel<1, 4> : split_a_kernel<1, 1>),
               g, p, flags, flag_count);
  const int strips = kzoo::ceil_div(g.n, second_pass::kCols);
  const int steps = kzoo::ceil_div(static_cast<int>(p.k_chunks) * kChunk, second_pass::kSteps);
  kzoo::launch({.grid = dim3(static_cast<unsigned>(strips) * steps),
                .block = dim3(second_pass::kThreads),
                .max_threads = second_pass::kThreads,
                .stream = stream,
                .dependent = true},
               vec4_b ? split_b_kernel<4> : split_b_kernel<1>, g, p, strips);
}

// C from the parts, with tiles of S.
template <class S, bool kGuarded>
class product {
 public:
  static std::size_t workspace_bytes(const kzoo_problem& p, int clusters) {
    return parts::bytes(p.m, p.n, p.k) +
           partial_sums<S>::bytes(schedule<S>(p.m, p.n, p.k, clusters));
  }
  static void prepare() {
    kzoo::allow_dynamic_shared(product_kernel<S, kGuarded>, kSharedBytes<S>);
  }
  static void run(const kzoo::gemm<float>& g, void* workspace, int clusters,
                  kzoo::stream_t stream) {
    const parts p = parts::in(workspace, g.m, g.n, g.k);
    const schedule<S> work(g.m, g.n, g.k, clusters);
    const auto sums = partial_sums<S>::in(p.end, work, 1);
    split(g, p, sums.flags, work.shares() ? work.blocks() * S::kWarpgroups : 0, stream);
    kzoo::launch({.grid = dim3(work.blocks()),
                  .block = dim3(S::kThreads),
                  .dynamic_shared = kSharedBytes<S>,
                  .max_threads = S::kThreads,
                  .stream = stream,
                  .cluster = dim3(S::kCluster),
                  .dependent = true},
                 product_kernel<S, kGuarded>, operand_maps<S>::of(p), g, p, work, sums,
                 with_plain_stores(g));
  }
};

template <int Interval, bool kGuarded>
class variant {
 public:
  using types = kzoo::types<float>;
  static constexpr kzoo_precision precision = KZOO_COMPUTE_FP32_SPLIT;
  static constexpr unsigned compute_capability = 90;

  static const char* supports(const kzoo_problem&, const kzoo_device& d) {
    if (d.kind == KZOO_CPU) return "it uses wgmma, which the simulator does not have";
    return d.compute_capability == 90 ? nullptr
                                      : "it is built for sm_90a, which runs on sm_90 alone";
  }
  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d) {
    const int clusters = clusters_of(d);
    return has_few_tiles(p.m, p.n, clusters) ? small::workspace_bytes(p, clusters)
                                             : large::workspace_bytes(p, clusters);
  }

  variant(const kzoo_problem&, const kzoo_device& d) : clusters_(clusters_of(d)) {
    small::prepare();
    large::prepare();
  }

  void run(const kzoo::gemm<float>& g, const kzoo_arguments& arguments) const {
    const auto stream = static_cast<kzoo::stream_t>(arguments.stream);
    const bool few = has_few_tiles(g.m, g.n, clusters_);
    (few ? small::run : large::run)(g, arguments.workspace, clusters_, stream);
  }

 private:
  using small = product<tiling<128, 6, Interval>, kGuarded>;
  using large = product<tiling<192, 5, Interval>, kGuarded>;

  // Two blocks on two SMs are a cluster.
  static int clusters_of(const kzoo_device& d) {
    return std::max(static_cast<int>(d.multiprocessors) / 2, 1);
  }
  // Tiles of 192 columns need fewer bytes for each FMA, those of 128 leave fewer SMs idle at the
  // end.
  static bool has_few_tiles(std::int64_t m, std::int64_t n, int clusters) {
    constexpr std::int64_t kWaves = 3, kTile = 256 * 192;
    return m * n < kWaves * clusters * kTile;
  }

  int clusters_;
};

}  // namespace split_fp16

using split_fp16::variant;

KZOO_PLUGIN("split_fp16", "fp32 as sums of two fp16 numbers, three products on tensor cores",
            kzoo::variant<variant<64, true>>("guarded_64", "promotes every 64 along K"),
            kzoo::variant<variant<128, true>>("guarded_128", "every 128"),
            kzoo::variant<variant<256, true>>("guarded_256", "every 256"),
            kzoo::variant<variant<512, true>>("guarded_512", "every 512"),
            kzoo::variant<variant<1024, true>>("guarded_1024", "every 1024"),
            kzoo::variant<variant<64, false>>(
                "unguarded_64", "for rows and columns of like magnitude; no kernel on CUDA cores"));
