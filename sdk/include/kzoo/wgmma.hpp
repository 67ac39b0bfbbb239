#pragma once
// wgmma (sm_90a): a warpgroup multiplies 64 x 16 by 16 x N (fp8: 64 x 32 by 32 x N) from shared
// memory, asynchronously. Device code.
// Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions".
//
//   using a_tile = kzoo::swizzled_tile<T, 64, 64>;  using b_tile = kzoo::swizzled_tile<T, 64, 256>;
//   float acc[128];                                    // N / 2 per thread
//   kzoo::wgmma_fence();                               // tiles and accumulators are ready
//   for (int k = 0; k < 64; k += 16) {
//     kzoo::wgmma<256>(acc, kzoo::k_major<a_tile>(a, 0, k), kzoo::mn_major<b_tile>(b, k, 0),
//                       k > 0);
//   }
//   kzoo::wgmma_commit();                              // a group of MMAs
//   kzoo::wgmma_wait<0>(acc);                          // all groups are done
//
// In acc[4 j] to acc[4 j + 3], thread t of the warpgroup has two columns, 8 j + 2 (t % 4) and the
// next, of row 16 (t / 32) + t % 32 / 4, then the same columns 8 rows further down.

#include <kzoo/cuda.hpp>
#include <kzoo/detail/here.hpp>
#include <kzoo/detail/shared_address.hpp>
#include <kzoo/swizzled_tile.hpp>

#include <cstdint>

#if !defined(KZOO_REAL_CUDA)
#include <kzoo/sim/sm90/wgmma.hpp>
#endif

#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
#error \
    "wgmma is an instruction of sm_90a alone: ARCH 90a-real in kzoo_add_plugin, or `// kzoo: arch=90a`"
#endif

namespace kzoo {

// The direction of a tile's 128-byte rows: K, or rows of A (columns of B).
enum class major : unsigned { k = 0, mn = 1 };

// The location of an operand: a "matrix descriptor". Only k_major and mn_major make it, from the
// tile's type, so that its layout is the tile's.
template <class T, major kMajor>
struct wgmma_operand {
  std::uint64_t bits;  // the descriptor
};

namespace detail {

// The descriptor's fields for the 128-byte swizzle, in units of 16 bytes. The stride of 8 rows
// leads to the next group of rows, `leading_bytes` to the next panel of operands wider than a
// panel.
constexpr __host__ __device__ std::uint64_t wgmma_bits(unsigned address, int leading_bytes) {
  constexpr std::uint64_t kSwizzle128 = 1, kStride = 8 * 128;
  return std::uint64_t{(address & 0x3ffff) / 16} | std::uint64_t(leading_bytes / 16) << 16 |
         kStride / 16 << 32 | kSwizzle128 << 62;
}

}  // namespace detail

// The operand `bytes` further on in shared memory, a multiple of 16.
template <class T, major kMajor>
constexpr __host__ __device__ wgmma_operand<T, kMajor> moved(wgmma_operand<T, kMajor> from,
                                                             int bytes) {
  // Only the low word changes, and addresses end in it without a carry.
  const auto low = static_cast<std::uint32_t>(from.bits) + static_cast<std::uint32_t>(bytes / 16);
  return {from.bits >> 32 << 32 | low};
}

#if defined(__CUDACC__) || !defined(KZOO_REAL_CUDA)  // device code: not in a host file for cuda

namespace detail {

template <class Tile>
__device__ __forceinline__ unsigned shared_address_in(const typename Tile::element* tile, int row,
                                                      int col) {
  // The element's address without the swizzle, which wgmma applies to the address's low bits.
  const int plain = col / Tile::kPanelCols * Tile::kPanelElements + row * Tile::kPanelCols +
                    col % Tile::kPanelCols;
  return shared_address(tile) + plain * int(sizeof(typename Tile::element));
}

}  // namespace detail

// An operand from (mn, k) of a row-major tile with columns along K (A in C = A B). mn must be a
// multiple of 8, k of 32 bytes.
template <class Tile>
__device__ __forceinline__ wgmma_operand<typename Tile::element, major::k> k_major(
    const typename Tile::element* tile, int mn, int k) {
  return {detail::wgmma_bits(detail::shared_address_in<Tile>(tile, mn, k), 0)};
}

// An operand from (k, mn) of a row-major tile with rows along K (B in C = A B). k must be a
// multiple of 16, mn of a panel's columns.
template <class Tile>
__device__ __forceinline__ wgmma_operand<typename Tile::element, major::mn> mn_major(
    const typename Tile::element* tile, int k, int mn) {
  static_assert(sizeof(typename Tile::element) == 2, "only 16-bit operands can be MN-major");
  return {detail::wgmma_bits(detail::shared_address_in<Tile>(tile, k, mn),
                             Tile::kRows * Tile::kRowBytes)};
}

// A warpgroup's 64 x 32 bytes of A in registers. Warp w has rows 16 w to 16 w + 15. With r = lane /
// 4 and t = lane % 4, a lane has bytes 4 t to 4 t + 3 of row r, of row r + 8, then of bytes 16 to
// 31 likewise. ldmatrix (mma.hpp) loads a K-major tile like this. The registers may be overwritten
// when the MMAs are done.
template <class T>
struct wgmma_fragment {
  unsigned words[4];  // one lane's, in the order above
};

// Orders this warpgroup's accesses to accumulators, and to fragments of A, before the next MMAs.
// Needed before the first MMA of a group.
__device__ __forceinline__ void wgmma_fence(KZOO_HERE) {
#if defined(__CUDACC__)
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#else
  sim::sm90::wgmma_fence(where);
#endif
}

// Groups the MMAs since the last group.
__device__ __forceinline__ void wgmma_commit(KZOO_HERE) {
#if defined(__CUDACC__)
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#else
  sim::sm90::wgmma_commit(where);
#endif
}

// Waits until all groups are done, except for the youngest kPending. Their tiles may then be
// overwritten.
template <int kPending>
__device__ __forceinline__ void wgmma_wait(KZOO_HERE) {
#if defined(__CUDACC__)
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
#else
  sim::sm90::wgmma_wait(kPending, where);
#endif
}

// Like wgmma_wait(), and makes `acc` readable: the compiler does not know that accumulators change
// between the instructions that name them.
template <int kPending, int kCount>
__device__ __forceinline__ void wgmma_wait(float (&acc)[kCount] KZOO_AND_HERE) {
#if defined(__CUDACC__)
  wgmma_wait<kPending>();
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(acc[i])::"memory");
#else
  static_cast<void>(acc);
  wgmma_wait<kPending>(where);
#endif
}

// Starts acc = A B, plus acc if `accumulate`. A is 64 x 32 bytes, B is 32 bytes x N, both in shared
// memory. All 128 threads of a warpgroup call it. N: 64, 128, 192 or 256. Types: __half,
// __nv_bfloat16; float, whose low 13 bits are ignored (TF32); fp8, whose sums keep about 14 bits:
// add them up elsewhere regularly.
template <int N, class A, class B, major kA, major kB>
__device__ __forceinline__ void wgmma(float (&acc)[N / 2], wgmma_operand<A, kA> a,
                                      wgmma_operand<B, kB> b, bool accumulate KZOO_AND_HERE);

// Like wgmma() above, with A in registers, so that an A is read once for several B, or has columns
// along K where it comes from. For e4m3 with N = 64, and for float with N = 128 and 256.
template <int N, class A, class B>
__device__ __forceinline__ void wgmma(float (&acc)[N / 2], const wgmma_fragment<A>& a,
                                      wgmma_operand<B, major::k> b, bool accumulate KZOO_AND_HERE);

}  // namespace kzoo

#include <kzoo/detail/wgmma_instructions.hpp>

#else

}  // namespace kzoo

#endif
