#pragma once
// The numbers of a two-level tiling, and where a thread stands in it: a block computes BM x BN of C
// in steps of BK along K, and each of its threads TM x TN of that. What moves at once is a quad,
// four neighbouring floats.

#include <kzoo/plugin.hpp>

#include <cstdint>

namespace common {

template <int BM, int BN, int BK, int TM, int TN>
struct tiling {
  static constexpr int kBM = BM, kBN = BN, kBK = BK, kTM = TM, kTN = TN;
  static constexpr int kThreadsX = BN / TN, kThreadsY = BM / TM, kThreads = kThreadsX * kThreadsY;
  // Quads of each tile that one thread fetches.
  static constexpr int kAQuads = BM * BK / 4 / kThreads, kBQuads = BK * BN / 4 / kThreads;
  // Two blocks to a multiprocessor, so that one computes while the other waits at a barrier. For 64
  // outputs per thread this holds the compiler to 128 registers; more outputs do not fit in those.
  static constexpr int kBlocksPerSm = TM * TN > 64 ? 1 : 2;
  static_assert(TM % 4 == 0 && TN % 4 == 0, "a thread's outputs come in quads");
  static_assert(BM % TM == 0 && BN % TN == 0, "threads must cover the tile of C exactly");
  static_assert(BM * BK % (4 * kThreads) == 0 && BK * BN % (4 * kThreads) == 0,
                "each thread must fetch the same number of quads");
  static_assert(kThreads <= 1024, "CUDA's limit of threads per block");
};

// The running thread's place.
template <class S>
struct place {
  int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  int thread = ty * S::kThreadsX + tx;
  int row0 = static_cast<int>(blockIdx.y) * S::kBM, col0 = static_cast<int>(blockIdx.x) * S::kBN;
};

// Whether a kernel for whole tiles may run: no tile hangs over an edge, and every quad of A, B and
// C starts on 16 bytes. Otherwise the same kernel runs with tests, and element by element.
template <class S>
bool is_whole(const kzoo::gemm<float>& g) {
  const auto aligned = [](const float* p, std::ptrdiff_t ld) {
    return reinterpret_cast<std::uintptr_t>(p) % 16 == 0 && ld % 4 == 0;
  };
  return g.m % S::kBM == 0 && g.n % S::kBN == 0 && g.k % S::kBK == 0 && aligned(g.a, g.lda) &&
         aligned(g.b, g.ldb) && aligned(g.c, g.ldc);
}

// A variant of a plugin that has its kernel in two builds, for whole tiles and with tests.
template <class S, auto kWholeKernel, auto kRaggedKernel>
struct tiled_variant {
  using types = kzoo::types<float>;

  static const char* supports(const kzoo_problem& p, const kzoo_device&) {
    return kzoo::grid_y_objection(p.m, S::kBM);
  }

  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    kzoo::launch({.grid = dim3(kzoo::ceil_div(g.n, S::kBN), kzoo::ceil_div(g.m, S::kBM)),
                  .block = dim3(S::kThreadsX, S::kThreadsY),
                  .max_threads = S::kThreads,
                  .stream = stream},
                 is_whole<S>(g) ? kWholeKernel : kRaggedKernel, g);
  }
};

}  // namespace common
