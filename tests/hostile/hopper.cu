// Each variant is one line away from a right kernel: a producer, a consumer warpgroup, C by TMA;
// and the same in clusters of two blocks, which load B for each other.
//
// The line that is missing, or wrong, names the fault.

#include <kzoo/cluster.hpp>
#include <kzoo/mma.hpp>
#include <kzoo/plugin.hpp>
#include <kzoo/tma.hpp>
#include <kzoo/warpgroup.hpp>
#include <kzoo/wgmma.hpp>

#include <cstring>

namespace {

enum class fault {
  none,
  no_init,
  no_init_fence,
  wrong_arrivals,
  wrong_parity,
  too_few_bytes,
  too_many_bytes,
  no_empty_wait,
  one_tile_less,
  no_full_wait,
  no_wgmma_fence,
  no_commit,
  no_wgmma_wait,
  early_release,
  no_proxy_fence,
  no_read_wait,
  no_last_read_wait,
  two_releases,
  no_first_cluster_sync,
  no_last_cluster_sync
};

constexpr int kBM = 64, kBN = 128, kBK = 64, kStages = 3;
using a_tile = kzoo::swizzled_tile<__half, kBM, kBK>;
using b_tile = kzoo::swizzled_tile<__half, kBK, kBN>;
using b_part = kzoo::swizzled_tile<__half, kBK, kBN / 2>;
using c_panel = kzoo::swizzled_tile<__half, kBM, 64>;

struct tensor_maps {
  kzoo::tensor_map<a_tile> a;
  kzoo::tensor_map<b_part> b;
  kzoo::tensor_map<c_panel> c;
};

struct shared {
  __half a[kStages][a_tile::kElements], b[kStages][b_tile::kElements], c[c_panel::kElements];
  kzoo::mbarrier full[kStages], empty[kStages];
};

template <fault kFault, int kBlocks>
__device__ void produce(const tensor_maps& maps, shared& s, int row, int col, int k_tiles) {
  const unsigned bytes = a_tile::kBytes + b_tile::kBytes -
                         (kFault == fault::too_few_bytes ? 16 : 0) +
                         (kFault == fault::too_many_bytes ? 16 : 0);
  const int rank = kBlocks == 1 ? 0 : static_cast<int>(kzoo::cluster_rank());
  const int tiles = kFault == fault::one_tile_less ? k_tiles - 1 : k_tiles;
  for (int i = 0; i < tiles; ++i) {
    const int stage = i % kStages;
    const unsigned parity = static_cast<unsigned>(i / kStages % 2);
    if (kFault != fault::no_empty_wait)
      s.empty[stage].wait(kFault == fault::wrong_parity ? parity : parity ^ 1);
    s.full[stage].arrive_and_expect(bytes);
    kzoo::tma_load(maps.a, s.a[stage], row, i * kBK, s.full[stage]);
    for (int part = rank; part < 2; part += kBlocks) {
      __half* const to = s.b[stage] + part * b_part::kElements;
      const int part_col = col + part * b_part::kCols;
      if constexpr (kBlocks == 1) {
        kzoo::tma_load(maps.b, to, i * kBK, part_col, s.full[stage]);
      } else {
        kzoo::tma_load_multicast(maps.b, to, i * kBK, part_col, s.full[stage], 3);
      }
    }
  }
}

template <fault kFault, int kBlocks>
__device__ void consume(shared& s, int k_tiles, float (&acc)[kBN / 2]) {
  const auto release = [&](int stage) {
    if (threadIdx.x % (kFault == fault::two_releases ? 64 : 128) != 0) return;
    for (unsigned block = 0; block < kBlocks; ++block) {
      if constexpr (kBlocks == 1) {
        s.empty[stage].arrive();
      } else {
        s.empty[stage].arrive_in(block);
      }
    }
  };
  for (int i = 0; i < k_tiles; ++i) {
    const int stage = i % kStages;
    if (kFault != fault::no_full_wait) s.full[stage].wait(i / kStages % 2);
    if (kFault != fault::no_wgmma_fence) kzoo::wgmma_fence();
    for (int k = 0; k < kBK; k += 16) {
      kzoo::wgmma<kBN>(acc, kzoo::k_major<a_tile>(s.a[stage], 0, k),
                       kzoo::mn_major<b_tile>(s.b[stage], k, 0), i > 0 || k > 0);
    }
    if (kFault != fault::no_commit) kzoo::wgmma_commit();
    if (kFault == fault::early_release) {
      release(stage);
    } else if (i > 0) {
      kzoo::wgmma_wait<1>();
      release((i - 1) % kStages);
    }
  }
  if (kFault != fault::no_wgmma_wait) kzoo::wgmma_wait<0>(acc);
}

template <fault kFault>
__device__ void store(const tensor_maps& maps, shared& s, int row, int col, float alpha,
                      const float (&acc)[kBN / 2]) {
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  for (int panel = 0; panel < kBN / 64; ++panel) {
    if (thread == 0 && kFault != fault::no_read_wait) kzoo::tma_store_wait_read<0>();
    kzoo::named_barrier<kzoo::kWarpgroup>(1);
    for (int x = 0; x < 64; x += 16) {
      unsigned words[4];
      for (int i = 0; i < 4; ++i) {
        const float* pair = acc + panel * 32 + x / 2 + 2 * i;
        const __half both[2] = {__half(alpha * pair[0]), __half(alpha * pair[1])};
        std::memcpy(&words[i], both, sizeof both);
      }
      kzoo::stmatrix(s.c + c_panel::offset(thread / 32 * 16 + lane % 16, x + lane / 16 * 8), words);
    }
    if (kFault != fault::no_proxy_fence) kzoo::fence_async_proxy();
    kzoo::named_barrier<kzoo::kWarpgroup>(1);
    if (thread == 0) {
      kzoo::tma_store(maps.c, s.c, row, col + panel * 64);
      kzoo::tma_store_commit();
    }
  }
  if (thread == 0 && kFault != fault::no_last_read_wait) kzoo::tma_store_wait_read<0>();
}

template <fault kFault, int kBlocks>
__global__ void __launch_bounds__(2 * kzoo::kWarpgroup)
    hopper_kernel(const __grid_constant__ tensor_maps maps, float alpha, int k_tiles) {
  auto& s = *kzoo::dynamic_shared<shared>();
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      if (kFault != fault::no_init || stage < kStages - 1) s.full[stage].init(1);
      s.empty[stage].init(kFault == fault::wrong_arrivals ? kBlocks + 1 : kBlocks);
    }
    if (kFault != fault::no_init_fence) kzoo::fence_mbarrier_init();
  }
  __syncthreads();
  if constexpr (kBlocks > 1 && kFault != fault::no_first_cluster_sync) kzoo::cluster_sync();
  const int row = static_cast<int>(blockIdx.x) * kBM, col = static_cast<int>(blockIdx.y) * kBN;
  if (threadIdx.x == kzoo::kWarpgroup) produce<kFault, kBlocks>(maps, s, row, col, k_tiles);
  if (threadIdx.x < kzoo::kWarpgroup) {
    float acc[kBN / 2];
    consume<kFault, kBlocks>(s, k_tiles, acc);
    store<kFault>(maps, s, row, col, alpha, acc);
  }
  if constexpr (kBlocks > 1 && kFault != fault::no_last_cluster_sync) kzoo::cluster_sync();
}

template <fault kFault, int kBlocks = 1>
struct hopper {
  using types = kzoo::types<__half>;
  static constexpr unsigned compute_capability = 90;
  static constexpr kzoo::granularity granularity{.m = 128, .n = 128, .k = 64};

  static const char* supports(const kzoo_problem& p, const kzoo_device&) {
    return p.beta == 0 ? nullptr : "it does not read C";
  }
  hopper(const kzoo_problem&, const kzoo_device&) {
    kzoo::allow_dynamic_shared(hopper_kernel<kFault, kBlocks>, sizeof(shared));
  }
  void run(const kzoo::gemm<__half>& g, kzoo::stream_t stream) const {
    const tensor_maps maps{kzoo::make_tensor_map<a_tile>(g.a, g.m, g.k, g.lda),
                           kzoo::make_tensor_map<b_part>(g.b, g.k, g.n, g.ldb),
                           kzoo::make_tensor_map<c_panel>(g.c, g.m, g.n, g.ldc)};
    kzoo::launch({.grid = dim3(kzoo::ceil_div(g.m, kBM), kzoo::ceil_div(g.n, kBN)),
                  .block = dim3(2 * kzoo::kWarpgroup),
                  .dynamic_shared = sizeof(shared),
                  .stream = stream,
                  .cluster = dim3(kBlocks)},
                 hopper_kernel<kFault, kBlocks>, maps, g.alpha, g.k / kBK);
  }
};

}  // namespace

#define FAULT(NAME) kzoo::variant<hopper<fault::NAME>>(#NAME, "one line away")
KZOO_PLUGIN("hopper", "Kernels for sm_90 with one wrong line", FAULT(none), FAULT(no_init),
            FAULT(no_init_fence), FAULT(wrong_arrivals), FAULT(wrong_parity), FAULT(too_few_bytes),
            FAULT(too_many_bytes), FAULT(no_empty_wait), FAULT(one_tile_less), FAULT(no_full_wait),
            FAULT(no_wgmma_fence), FAULT(no_commit), FAULT(no_wgmma_wait), FAULT(early_release),
            FAULT(no_proxy_fence), FAULT(no_read_wait), FAULT(no_last_read_wait),
            FAULT(two_releases), (kzoo::variant<hopper<fault::none, 2>>("cluster", "right")),
            (kzoo::variant<hopper<fault::no_first_cluster_sync, 2>>("no_first_cluster_sync",
                                                                    "one line away")),
            (kzoo::variant<hopper<fault::no_last_cluster_sync, 2>>("no_last_cluster_sync",
                                                                   "one line away")));
