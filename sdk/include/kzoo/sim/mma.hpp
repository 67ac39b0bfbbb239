// mma.sync, ldmatrix and stmatrix for the host compiler. See kzoo/mma.hpp. Products are exact, and
// added to the accumulator sequentially along K.
#pragma once

#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

#include <kzoo/numeric.hpp>
#include <kzoo/sim/device.hpp>
#include <kzoo/sim/half.hpp>
#include <kzoo/sim/sm90/barriers.hpp>

namespace kzoo::sim::mma {

#if defined(KZOO_XRAY)
// Records a lane's row in an analysed build (docs/xray.md).
void record_row(const void* row, bool stored);
#endif

using here = std::source_location;

// A lane's arguments of ldmatrix or stmatrix. `Word` is const for a store's registers.
template <class Word, class Byte>
struct transfer {
  Word* registers;
  Byte* row;  // of 16 bytes
  here where;

  static const transfer& of(void* const lanes[], int lane) {
    return *static_cast<const transfer*>(lanes[lane]);
  }
  static void check(void* const lanes[], const char* message) {
    for (int lane = 0; lane < 32; ++lane) {
      if (reinterpret_cast<std::uintptr_t>(of(lanes, lane).row) % 16 != 0) fail(message);
    }
  }
  // The row `r` of matrix `i`.
  static Byte* row_of(void* const lanes[], int i, int r) { return of(lanes, 8 * i + r).row; }
};

using load = transfer<unsigned, const unsigned char>;
using store = transfer<const unsigned, unsigned char>;

inline void run_load(void* const lanes[]) {
  load::check(lanes, "ldmatrix needs rows that start at a multiple of 16 bytes");
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) {
      std::memcpy(load::of(lanes, lane).registers + i,
                  load::row_of(lanes, i, lane / 4) + 4 * (lane % 4), 4);
    }
  }
}

inline void run_load_transposed(void* const lanes[]) {
  load::check(lanes, "ldmatrix needs rows that start at a multiple of 16 bytes");
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) {
      auto* to = reinterpret_cast<unsigned char*>(load::of(lanes, lane).registers + i);
      for (int half = 0; half < 2; ++half) {
        std::memcpy(to + 2 * half, load::row_of(lanes, i, 2 * (lane % 4) + half) + 2 * (lane / 4),
                    2);
      }
    }
  }
}

inline void run_store(void* const lanes[]) {
  store::check(lanes, "stmatrix needs rows that start at a multiple of 16 bytes");
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) {
      std::memcpy(store::row_of(lanes, i, lane / 4) + 4 * (lane % 4),
                  store::of(lanes, lane).registers + i, 4);
    }
  }
  for (int row = 0; row < 32; ++row)
    sm90::note_write_of_lane(static_cast<unsigned>(row), store::of(lanes, row).row, 16,
                             store::of(lanes, row).where);
}

inline constexpr warp_work kLoad{"ldmatrix", &run_load};
inline constexpr warp_work kLoadTransposed{"ldmatrix.trans", &run_load_transposed};
inline constexpr warp_work kStore{"stmatrix", &run_store};

template <class Word, class Byte>
inline void move_rows(const warp_work& how, transfer<Word, Byte> mine) {
#if defined(KZOO_XRAY)
  record_row(mine.row, !std::is_const_v<Byte>);
#endif
  warp_together(how, &mine, mine.where);
}

// The accumulators' type for products of T. Integer sums wrap around.
template <class T>
using sum_of_products = std::conditional_t<std::is_same_v<T, signed char>, int, float>;

// Element `e` of a register.
template <class T>
sum_of_products<T> value(unsigned word, int e) {
  if constexpr (std::is_same_v<T, float>) {
    return truncate_to_tf32(std::bit_cast<float>(word));
  } else if constexpr (std::is_same_v<T, signed char>) {
    return static_cast<signed char>(word >> (8 * e));
  } else {
    return T::from_bits(static_cast<std::uint16_t>(word >> (16 * e)));
  }
}

// A lane's arguments of mma.sync.
template <class T>
struct product {
  using sum_type = sum_of_products<T>;
  sum_type* c;
  const unsigned* a;
  const unsigned* b;

  static constexpr int kEach = 4 / int(sizeof(T));  // values in a register
  static constexpr int kM = 16, kN = 8, kK = 8 * kEach;

  // The lane that holds element k of row or column g, and the element in its registers.
  static int lane_of(int g, int k) { return g % 8 * 4 + k / kEach % 4; }
  static sum_type element(const unsigned* registers, int g, int k, int registers_per_k) {
    return value<T>(registers[g / 8 + k / (4 * kEach) * registers_per_k], k % kEach);
  }
  // Element (row, col) of C.
  static sum_type& sum_of(void* const lanes[], int row, int col) {
    return at(lanes, row % 8 * 4 + col / 2)->c[row / 8 * 2 + col % 2];
  }
  static const product* at(void* const lanes[], int lane) {
    return static_cast<const product*>(lanes[lane]);
  }

  // Adds to a row of C four elements at a time, a register of any CPU, even if hardly optimised.
  using lane_type = std::conditional_t<std::is_same_v<sum_type, int>, unsigned, sum_type>;
  typedef lane_type four __attribute__((vector_size(4 * sizeof(lane_type))));

  static void multiply(void* const lanes[]) {
    four b[kK][kN / 4];
    for (int k = 0; k < kK; ++k) {
      for (int col = 0; col < kN; ++col) {
        b[k][col / 4][col % 4] =
            static_cast<lane_type>(element(at(lanes, lane_of(col, k))->b, col, k, 1));
      }
    }
    for (int row = 0; row < kM; ++row) {
      const auto sum_at = [&](int col) -> sum_type& { return sum_of(lanes, row, col); };
      const auto four_at = [&](int col) {
        const auto one = [&](int i) { return static_cast<lane_type>(sum_at(col + i)); };
        return four{one(0), one(1), one(2), one(3)};
      };
      four left = four_at(0), right = four_at(4);
      for (int k = 0; k < kK; ++k) {
        const auto a = static_cast<lane_type>(element(at(lanes, lane_of(row, k))->a, row, k, 2));
        left += a * b[k][0];
        right += a * b[k][1];
      }
      for (int col = 0; col < kN; ++col)
        sum_at(col) = static_cast<sum_type>(col < 4 ? left[col] : right[col - 4]);
    }
  }

  static constexpr warp_work kMultiply{"mma.sync", &multiply};
};

}  // namespace kzoo::sim::mma

namespace kzoo {

inline void ldmatrix(unsigned (&r)[4], const void* row,
                     std::source_location where = std::source_location::current()) {
  move_rows(sim::mma::kLoad, sim::mma::load{r, static_cast<const unsigned char*>(row), where});
}

inline void ldmatrix_transposed(unsigned (&r)[4], const void* row,
                                std::source_location where = std::source_location::current()) {
  move_rows(sim::mma::kLoadTransposed,
            sim::mma::load{r, static_cast<const unsigned char*>(row), where});
}

inline void stmatrix(void* row, const unsigned (&r)[4],
                     std::source_location where = std::source_location::current()) {
  move_rows(sim::mma::kStore, sim::mma::store{r, static_cast<unsigned char*>(row), where});
}

template <class T>
inline void mma(sim::mma::sum_of_products<T> (&c)[4], const unsigned (&a)[4],
                const unsigned (&b)[2],
                std::source_location where = std::source_location::current()) {
  sim::mma::product<T> mine{c, a, b};
  sim::warp_together(mine.kMultiply, &mine, where);
}

}  // namespace kzoo
