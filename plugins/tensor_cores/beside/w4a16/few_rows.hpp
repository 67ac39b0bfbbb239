#pragma once
// Up to 16 rows of A: what takes the time is to read the weights once, so each warp has a ring
// of its own for them, and warps wait for each other only to add up.
//
// A warp keeps A's elements for its slots of K in registers, one slot after the other, and goes
// through the columns of its block with them:
//
//                columns of B, a unit at a time
//     slot of K   w0 w4 w0 w4 ...       (8 warps in 2 groups)
//     slot        w1 w5 w1 w5
//     slot        w2 w6 w2 w6           the sums of each 128 steps go to shared memory,
//     slot        w3 w7 w3 w7           where all are scaled and added up in the end
//
// With one row of A, the eight columns of the operand that has A are eight neighbouring blocks of
// 128 steps of this row, and the rows of the one that has weights are these blocks of one column of
// B. Of the products of all with all, those of a block with itself are used. So a warp reads 512
// bytes of one column at once. With two rows there are four blocks, and two with four.

#include <kzoo/cluster.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "weights.hpp"

namespace w4a16 {

// Blocks of a cluster, which have parts of K. There are no clusters in the simulator.
#if defined(KZOO_REAL_CUDA)
inline constexpr int kMaxParts = 2;
#else
inline constexpr int kMaxParts = 1;
#endif

// Rows: of A, 1, 2, 4, 8 or 16.
template <int Rows>
struct few_rows_tile {
  static constexpr int kRows = Rows, kWarps = 16, kThreads = 32 * kWarps;
  static constexpr int kDepth = 4;  // units whose weights are on their way to a warp
  static constexpr int kParts = Rows > 4 ? kMaxParts : 1;
  static constexpr int kRingBytes = kWarps * kDepth * 2 * 32 * 16;
  static constexpr int kOperands = (Rows + 7) / 8;  // of up to 8 rows of A
  static constexpr int kOfOperand = std::min(Rows, 8);
  static constexpr int kBlocks = 8 / kOfOperand;  // of K, in a slot
  static constexpr int kSlot = kBlocks * kBlock;
  static constexpr int kUnit = 2 * kOfOperand;  // columns
  static constexpr int kVector = std::min(Rows, 4);
};

// How a product is divided: blockIdx.x counts strips of columns, blockIdx.y parts of K. A block
// does `at_once` slots of its part before it adds up what is in shared memory.
struct strips_and_slots {
  int groups;  // of warps, with the same slots and different columns
  int columns, strips;
  int slots, at_once;

  template <class Tile>
  static strips_and_slots of(std::int64_t n, std::int64_t k, const kzoo_device& d) {
    const auto up = [](std::int64_t size, std::int64_t by) { return (size + by - 1) / by; };
    const std::int64_t slots = up(up(k, Tile::kSlot), Tile::kParts);
    const std::int64_t sms = std::max(d.kind == KZOO_CPU ? d.threads : d.multiprocessors, 1u);
    const std::int64_t at_a_time = std::max<std::int64_t>(sms / Tile::kParts, 1);
    // Each slot has a warp, and no warp is without one, if there are enough or few enough.
    int fewest = Tile::kWarps;
    while (fewest > 1 && (Tile::kWarps % fewest != 0 || Tile::kWarps / fewest < slots)) --fewest;
    for (std::int64_t waves = 1;; ++waves) {
      const std::int64_t columns = up(up(n, waves * at_a_time), Tile::kUnit) * Tile::kUnit;
      for (int groups = fewest; groups <= Tile::kWarps; ++groups) {
        if (Tile::kWarps % groups != 0) continue;
        const int classes = Tile::kWarps / groups;
        strips_and_slots of{groups, static_cast<int>(columns), static_cast<int>(up(n, columns)),
                            static_cast<int>(slots), 0};
        const auto fits = [&](std::int64_t rounds) {
          of.at_once = static_cast<int>(rounds * classes);
          return of.template shared_bytes<Tile>() <= kMaxSharedKb * 1024;
        };
        std::int64_t rounds = up(slots, classes);
        while (rounds > 0 && !fits(rounds)) --rounds;
        if (rounds > 0) return of;
      }
    }
  }

  // The floats of a block of K in shared memory: of all units that warps do, and some more to keep
  // lanes in different banks.
  template <class Tile>
  __host__ __device__ int stride() const {
    return (units<Tile>() * groups * Tile::kUnit * Tile::kRows + 31) / 32 * 32 + 4 * Tile::kVector;
  }
  // Of columns, for each group.
  template <class Tile>
  __host__ __device__ int units() const {
    const int together = groups * Tile::kUnit;
    return (columns + together - 1) / together;
  }
  template <class Tile>
  std::int64_t shared_bytes() const {
    const std::int64_t of_block = stride<Tile>() + columns;
    return Tile::kRingBytes + std::int64_t{sizeof(float)} *
                                  (at_once * Tile::kBlocks * of_block + columns * Tile::kRows);
  }
};

// A warp's weights for a unit: of two columns a lane, 32 steps each.
struct unit_weights {
  uint4 of[2];
};

// A warp's units whose weights are on their way, of which the lane has its part.
template <class Tile>
class unit_ring {
 public:
  __device__ __forceinline__ explicit unit_ring(uint4* all)
      : shared_(all + static_cast<int>(threadIdx.x) / 32 * (Tile::kDepth * 2 * 32) +
                static_cast<int>(threadIdx.x) % 32) {}
  __device__ __forceinline__ void load(int i, const unsigned char* first,
                                       const unsigned char* second, bool inside) const {
    if (inside) {
      kzoo::copy_async<16>(shared_ + i * 64, first);
      kzoo::copy_async<16>(shared_ + i * 64 + 32, second);
    }
    kzoo::commit_group();
  }
  __device__ __forceinline__ unit_weights wait(int i) const {
    kzoo::wait_group<Tile::kDepth - 1>();
    return {shared_[i * 64], shared_[i * 64 + 32]};
  }
  // After which so many units have been loaded.
  static __device__ __forceinline__ void wait_for_scales(int units) {
    if (units >= Tile::kDepth) {
      kzoo::wait_group<Tile::kDepth>();
    } else {
      kzoo::wait_group<0>();
    }
  }

 private:
  uint4* shared_;  // the lane's first
};

// The place of a lane, 4 r + t, in operands and sums (weights.hpp).
template <class Tile>
struct place {
  int r, t;

  // Of weights: row r of the operand.
  __device__ __forceinline__ int column() const { return r / Tile::kBlocks; }
  __device__ __forceinline__ int block() const { return r % Tile::kBlocks; }
  // Of A: column r of the operand.
  __device__ __forceinline__ int row_of_a() const { return r % Tile::kOfOperand; }
  __device__ __forceinline__ int block_of_a() const { return r / Tile::kOfOperand; }
};

// Where a lane's weights are: unit after unit of a slot, then those of the warp's next one.
template <class Tile, class G>
class weights_of_lane {
 public:
  __device__ __forceinline__ weights_of_lane(const G& g, int col0, place<Tile> at)
      : weights_(reinterpret_cast<const unsigned char*>(g.b)),
        column_bytes_(static_cast<unsigned>(g.ldb / 2)),
        k_(g.k),
        step_(at.block() * kBlock + at.t * kStepsOfLane),
        column_(col0 + at.column()),
        last_(g.n - 1) {}

  // Beyond the edges of B these are others', which A's zeros and nobody use.
  __device__ __forceinline__ const unsigned char* of_slot(int slot) const {
    const int step = slot * Tile::kSlot + step_;
    return weights_ + (step < k_ ? step / 2 : 0);
  }
  __device__ __forceinline__ const unsigned char* at(const unsigned char* slot, int unit,
                                                     int half) const {
    const int column = min(column_ + unit * Tile::kUnit + half * Tile::kOfOperand, last_);
    return slot + static_cast<unsigned long long>(static_cast<unsigned>(column)) * column_bytes_;
  }

 private:
  const unsigned char* weights_;
  unsigned column_bytes_;
  int k_, step_, column_, last_;
};

// What a lane multiplies its weights of a slot with.
template <class Tile>
struct a_of_slot {
  uint4 words[Tile::kOperands][kWordsOfLane];

  template <class G>
  __device__ __forceinline__ void load(const G& g, int slot, place<Tile> at) {
    const int k = slot * Tile::kSlot + at.block_of_a() * kBlock + at.t * kStepsOfLane;
#pragma unroll
    for (int o = 0; o < Tile::kOperands; ++o) {
      const int row = 8 * o + at.row_of_a();
      const auto* const from = reinterpret_cast<const uint4*>(g.a + row * g.lda + k);
      const bool inside = row < g.m && k < g.k;
#pragma unroll
      for (int word = 0; word < kWordsOfLane; ++word)
        words[o][word] = inside ? from[word] : uint4{};
    }
  }
  __device__ __forceinline__ void put_in_order() {
#pragma unroll
    for (int o = 0; o < Tile::kOperands; ++o) {
#pragma unroll
      for (uint4& word : words[o]) word = apart::in_order(word);
    }
  }
};

// The products of a unit, for each operand of A as mma.sync has them.
template <class T, class Tile>
__device__ __forceinline__ void multiply(const unit_weights& weights, const a_of_slot<Tile>& a,
                                         float (&sums)[Tile::kOperands][4]) {
#pragma unroll
  for (auto& of : sums) of[0] = of[1] = of[2] = of[3] = 0;
#pragma unroll
  for (int word = 0; word < kWordsOfLane; ++word) {
    const operands of =
        unpack<T, apart>(word_of(weights.of[0], word), word_of(weights.of[1], word));
#pragma unroll
    for (int o = 0; o < Tile::kOperands; ++o) {
      const unsigned first[2] = {a.words[o][word].x, a.words[o][word].y};
      kzoo::mma<T>(sums[o], of.first, first);
    }
#pragma unroll
    for (int o = 0; o < Tile::kOperands; ++o) {
      const unsigned second[2] = {a.words[o][word].z, a.words[o][word].w};
      kzoo::mma<T>(sums[o], of.second, second);
    }
  }
}

// A block's sums in shared memory: for each 128 steps, all rows of A of a column, then the next.
template <class Tile>
struct sums_of_blocks {
  float* shared;
  int stride;

  // Where a lane's sums of a unit are, and those of the next unit kUnit * kRows further on.
  __device__ __forceinline__ float* of(int slot, int unit, place<Tile> at) const {
    return shared + (slot * Tile::kBlocks + at.block()) * stride +
           (unit * Tile::kUnit + at.column()) * Tile::kRows +
           (Tile::kRows == 1 ? 0 : 2 * at.t % Tile::kOfOperand);
  }
  static __device__ __forceinline__ void leave(float* to, place<Tile> at,
                                               const float (&sums)[Tile::kOperands][4]) {
    if constexpr (Tile::kRows == 1) {
      const bool odd = at.r % 2 != 0;
      const float2 both = {odd ? sums[0][1] : sums[0][0], odd ? sums[0][3] : sums[0][2]};
      if (at.t == at.r / 2) *reinterpret_cast<float2*>(to) = both;
    } else if (2 * at.t / Tile::kOfOperand == at.block()) {
#pragma unroll
      for (int o = 0; o < Tile::kOperands; ++o) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          *reinterpret_cast<float2*>(to + half * Tile::kOfOperand * Tile::kRows + 8 * o) = {
              sums[o][2 * half], sums[o][2 * half + 1]};
        }
      }
    }
  }

  // Calls body(i, the sum of element i): from kVector elements on the same thread; of one column,
  // with its scales.
  template <class Body>
  __device__ __forceinline__ void add_up(const float* scales, int columns, int blocks,
                                         const Body& body) const {
    constexpr int kVector = Tile::kVector;
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    // Four lanes side by side, and eight with blocks of K between them.
    const int count = columns * Tile::kRows;
    for (int i0 = warp * 4 * kVector; i0 < count; i0 += Tile::kWarps * 4 * kVector) {
      const int i = i0 + lane % 4 * kVector;
      float sum[kVector] = {};
      if (i < count) {
        const float* of = shared + i;
        const float* scale = scales + i / Tile::kRows;
#pragma unroll 4
        for (int block = lane / 4; block < blocks; block += 8) {
#pragma unroll
          for (int v = 0; v < kVector; ++v) {
            sum[v] += scale[block * columns] * of[block * stride + v];
          }
        }
      }
#pragma unroll
      for (int v = 0; v < kVector; ++v) {
#pragma unroll
        for (int other = 4; other < 32; other *= 2) sum[v] += __shfl_xor_sync(~0u, sum[v], other);
        if (lane < 4 && i < count) body(i + v, sum[v]);
      }
    }
  }
};

// Starts to copy the scales of `blocks` blocks of K from block `first` on.
template <class Tile, class G>
__device__ __forceinline__ void copy_scales(const G& g, int first, int blocks, int col0,
                                            int columns, float* to) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  for (int block = warp; block < blocks; block += Tile::kWarps) {
    const float* const from = g.scales_b.scales + (first + block) * g.scales_b.ld + col0;
    const bool inside = (first + block) * kBlock < g.k;
    for (int col = lane; col < columns; col += 32) {
      kzoo::copy_async<4>(to + block * columns + col, from + col, inside && col0 + col < g.n);
    }
  }
}

// Below sm_90, for which no variant calls it, code for clusters is left out: the plugin's tiles are
// for sm_80.
template <int kParts>
__device__ __forceinline__ void wait_for_parts() {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
  if constexpr (kParts > 1) kzoo::cluster_sync();
#endif
}

// The sum over the cluster's blocks of the float at this place in their shared memory.
template <int kParts>
__device__ __forceinline__ float sum_of_parts(const float* shared) {
  if constexpr (kParts == 1) {
    return *shared;
  } else {
    float sum = 0;
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      float value = 0;
      asm volatile(
          "{\n"
          ".reg .b32 there;\n"
          "mapa.shared::cluster.u32 there, %1, %2;\n"
          "ld.shared::cluster.f32 %0, [there];\n"
          "}"
          : "=f"(value)
          : "r"(static_cast<unsigned>(__cvta_generic_to_shared(shared))), "r"(part)
          : "memory");
      sum += value;
    }
#endif
    return sum;
  }
}

template <class Tile, kzoo::block_scaled G>
__global__ void __launch_bounds__(Tile::kThreads) few_rows_kernel(G g, strips_and_slots d) {
  using T = typename G::a_type;
  constexpr int kDepth = Tile::kDepth;
  constexpr bool kNextA = Tile::kOperands == 1;  // else registers do not suffice
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const place<Tile> at{lane / 4, lane % 4};
  const int group = warp % d.groups, classes = Tile::kWarps / d.groups;
  const int col0 = static_cast<int>(blockIdx.x) * d.columns, units = d.units<Tile>();
  const int before = static_cast<int>(blockIdx.y) * d.slots;  // in parts before this one
  const int slots = min(d.slots, kzoo::ceil_div(g.k, Tile::kSlot) - before);
  auto* const rings = kzoo::dynamic_shared<unsigned char>();
  const sums_of_blocks<Tile> sums{reinterpret_cast<float*>(rings + Tile::kRingBytes),
                                  d.stride<Tile>()};
  float* const scales = sums.shared + d.at_once * Tile::kBlocks * sums.stride;
  float* const totals = scales + d.at_once * Tile::kBlocks * d.columns;

  int slot = warp / d.groups;
  a_of_slot<Tile> a, next_a;
  a.load(g, before + slot, at);
  const weights_of_lane<Tile, G> from(g, col0, at);
  const unsigned char* of_slot = from.of_slot(before + slot);
  const unit_ring<Tile> ring(reinterpret_cast<uint4*>(rings));
#pragma unroll
  for (int i = 0; i < kDepth; ++i) {
    const int unit = group + i * d.groups;
    ring.load(i, from.at(of_slot, unit, 0), from.at(of_slot, unit, 1), i < units && slot < slots);
  }
#pragma unroll 1
  for (int first = 0; first == 0 || first < slots; first += d.at_once) {
    const int end = min(first + d.at_once, slots), blocks = (end - first) * Tile::kBlocks;
    copy_scales<Tile>(g, (before + first) * Tile::kBlocks, blocks, col0, d.columns, scales);
    kzoo::commit_group();
    int done = 0;
#pragma unroll 1
    for (; slot < end; slot += classes) {
      a.put_in_order();
      if (kNextA) next_a.load(g, before + slot + classes, at);
      float* to = sums.of(slot - first, group, at);
      bool more = true;  // to load
#pragma unroll 1
      for (int i0 = 0; i0 < units; i0 += kDepth) {
        int next = i0 + kDepth;
        if (next >= units) {
          next = 0;
          more = slot + classes < slots;
          of_slot = from.of_slot(before + slot + classes);
        }
#pragma unroll
        for (int i = 0; i < kDepth; ++i) {
          if (i0 + i < units) {
            float products[Tile::kOperands][4];
            multiply<T>(ring.wait(i), a, products);
            sums.leave(to, at, products);
            to += d.groups * Tile::kUnit * Tile::kRows;
          }
          const int unit = group + (next + i) * d.groups;
          ring.load(i, from.at(of_slot, unit, 0), from.at(of_slot, unit, 1),
                    more && next + i < units);
        }
      }
      done += units;
      if (kNextA) {
        a = next_a;
      } else {
        a.load(g, before + slot + classes, at);
      }
    }
    ring.wait_for_scales(done);
    __syncthreads();  // all sums and scales are there
    sums.add_up(scales, d.columns, blocks,
                [&](int i, float sum) { totals[i] = first == 0 ? sum : totals[i] + sum; });
    __syncthreads();  // the totals are, and the next sums may be
  }

  wait_for_parts<Tile::kParts>();
  const int part = Tile::kParts > 1 ? static_cast<int>(blockIdx.y) : 0;
  for (int i = part * Tile::kThreads + static_cast<int>(threadIdx.x); i < d.columns * Tile::kRows;
       i += Tile::kParts * Tile::kThreads) {
    const int row = i / d.columns, col = i % d.columns;
    g.store_inside(row, col0 + col, sum_of_parts<Tile::kParts>(totals + col * Tile::kRows + row));
  }
  wait_for_parts<Tile::kParts>();  // nobody reads from here any more
}

class few_rows : public for_weights {
 public:
  static constexpr unsigned compute_capability = 90;  // clusters

  static const char* supports(const kzoo_problem& p, const kzoo_device& d) {
    if (p.m > 16) return "it takes up to 16 rows of A";
    return with_tile(p.m, [&]<class Tile>(Tile) {
      const auto of = strips_and_slots::of<Tile>(p.n, p.k, d);
      return objection(p, d, static_cast<int>(of.template shared_bytes<Tile>()));
    });
  }
  few_rows(const kzoo_problem& p, const kzoo_device& d) {
    with_tile(p.m, [&]<class Tile>(Tile) {
      division_ = strips_and_slots::of<Tile>(p.n, p.k, d);
      for_type(p, [&]<class T>(T) {
        kzoo::allow_dynamic_shared(few_rows_kernel<Tile, gemm<T>>,
                                   division_.template shared_bytes<Tile>());
      });
    });
  }

  template <kzoo::block_scaled G>
  void run(const G& g, const kzoo_arguments& arguments) const {
    with_tile(g.m, [&]<class Tile>(Tile) {
      kzoo::launch(
          {.grid = dim3(division_.strips, Tile::kParts),
           .block = dim3(Tile::kThreads),
           .dynamic_shared = static_cast<std::size_t>(division_.template shared_bytes<Tile>()),
           .max_threads = Tile::kThreads,
           .stream = static_cast<kzoo::stream_t>(arguments.stream),
           .cluster = dim3(1, Tile::kParts)},
          few_rows_kernel<Tile, G>, g, division_);
    });
  }

 private:
  // Calls body(the tile for so many rows).
  template <class Body>
  static auto with_tile(std::int64_t rows, const Body& body) -> decltype(body(few_rows_tile<1>{})) {
    if (rows <= 1) return body(few_rows_tile<1>{});
    if (rows <= 2) return body(few_rows_tile<2>{});
    if (rows <= 4) return body(few_rows_tile<4>{});
    if (rows <= 8) return body(few_rows_tile<8>{});
    return body(few_rows_tile<16>{});
  }

  strips_and_slots division_{};
};

}  // namespace w4a16
