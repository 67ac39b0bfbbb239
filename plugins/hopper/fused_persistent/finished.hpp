#pragma once
// A product with an epilogue, as persistent's kernel takes it: finish() makes of accumulators what
// C is to have. Stage after stage is applied to all accumulators of a thread, so that which stage
// it is, and where its operand lies, is asked once for 128 elements.

#include <kzoo/epilogue.hpp>
#include <tensor_cores/common/store_pairs.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "activations.hpp"

namespace fused_persistent {

// A pair of two elements, as it is loaded. (As two elements they would become two registers before
// they are converted.)
template <class E>
__device__ __forceinline__ float2 as_floats(unsigned word) {
  if constexpr (std::is_same_v<E, __nv_bfloat16>) {
    return {__uint_as_float(word << 16), __uint_as_float(word & 0xffff0000u)};
  } else {
    __half2 pair;
    memcpy(&pair, &word, sizeof pair);
    return __half22float2(pair);
  }
}
template <class E>
__device__ __forceinline__ float2 as_floats(float2 pair) {
  return pair;
}

// How a thread finds an operand's values for its accumulators, which are pairs of neighbouring
// columns.
enum class operand_lies {
  one_for_row,      // the same for all columns
  in_columns,       // the same for all rows, pairs of C's type
  in_wide_columns,  // the same for all rows, pairs of fp32
  in_matrix,        // pairs of C's type
  anyhow            // element by element
};

struct step : kzoo::epilogue::stage {
  operand_lies lies;
  float weight;  // of an operand that is added
  gelu curve;    // of the two kinds of GELU

  bool has_operand() const { return kind <= KZOO_STAGE_MULTIPLY; }
};

// G is a kzoo::gemm, whose alpha is now 1 and whose beta is 0: what they were is done by finish().
template <class G>
struct finished : G {
  using typename G::c_type;

  float scale;  // what was alpha
  int count;
  step steps[KZOO_MOST_STAGES + 1];  // beta C, then the problem's stages

  finished(const G& g, const kzoo::epilogue& after) : G(g), scale(g.alpha), count(0) {
    this->alpha = 1.0f;
    this->beta = 0.0f;
    if (g.beta != 0.0f) {
      constexpr kzoo_type kType = kzoo::element_traits<c_type>::type;
      append({KZOO_STAGE_ADD, kType, g.c, g.ldc, 1, 0.0f, 0.0f}, g.beta);
    }
    for (int i = 0; i < after.count; ++i) append(after.stages[i], 1.0f);
  }

  // acc[4 j] to acc[4 j + 3]: columns col + 8 j and the next of `row`, and of row + 8.
  template <int kCount>
  __device__ __forceinline__ void finish(int row, int col, float (&acc)[kCount]) const {
    const auto each = [&](auto f) {
#pragma unroll
      for (float& x : acc) x = f(x);
    };
    if (scale != 1.0f) each([&](float x) { return scale * x; });
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
      const step& s = steps[i];
      switch (s.kind) {
        case KZOO_STAGE_ADD:
        case KZOO_STAGE_MULTIPLY: with_operand(s, row, col, acc); break;
        case KZOO_STAGE_RELU: each([](float x) { return fmaxf(x, 0.0f); }); break;
        case KZOO_STAGE_CLAMP:
          each([low = s.low, high = s.high](float x) { return fminf(fmaxf(x, low), high); });
          break;
        case KZOO_STAGE_SILU: each([](float x) { return silu(x); }); break;
        default: each(s.curve);
      }
    }
  }

 private:
  void append(const kzoo::epilogue::stage& stage, float weight) {
    step& s = steps[count++];
    static_cast<kzoo::epilogue::stage&>(s) = stage;
    s.weight = weight;
    s.curve = s.kind == KZOO_STAGE_GELU ? kGelu : kGeluTanh;
    s.lies = s.has_operand() ? lie_of(s) : operand_lies::anyhow;
  }
  operand_lies lie_of(const step& s) const {
    if (s.col_step == 0) return operand_lies::one_for_row;
    const bool narrow = s.type == kzoo::element_traits<c_type>::type;
    const bool pairs = this->n % 2 == 0 && s.row_step % 2 == 0 &&
                       reinterpret_cast<std::uintptr_t>(s.operand) % (2 * bytes_of(s)) == 0;
    if (pairs && narrow && s.row_step == 0) return operand_lies::in_columns;
    if (pairs && s.type == KZOO_F32 && s.row_step == 0) return operand_lies::in_wide_columns;
    if (pairs && narrow && s.kind == KZOO_STAGE_ADD) return operand_lies::in_matrix;
    return operand_lies::anyhow;
  }

  static __host__ __device__ int bytes_of(const step& s) { return s.type == KZOO_F32 ? 4 : 2; }
  static __device__ __forceinline__ const void* address(const step& s, int row, int col) {
    return static_cast<const char*>(s.operand) +
           (row * s.row_step + col * s.col_step) * bytes_of(s);
  }

  // Adds the operand to all of acc, or multiplies them by it. Where its elements lie as they mostly
  // do, that is one operation for an element of C, and one load for two or four.
  template <int kCount>
  __device__ __forceinline__ void with_operand(const step& s, int row, int col,
                                               float (&acc)[kCount]) const {
    const bool adds = s.kind == KZOO_STAGE_ADD;
    const float weight = s.weight;
    const auto add = [weight](float x, float y) { return x + weight * y; };
    const auto multiply = [](float x, float y) { return x * y; };
    const auto either = [adds, weight](float x, float y) {
      return x * (adds ? 1.0f : y) + (adds ? weight * y : 0.0f);
    };
    switch (s.lies) {
      case operand_lies::one_for_row: {
        const float upper = kzoo::epilogue::element(s, min(row, this->m - 1), 0),
                    lower = kzoo::epilogue::element(s, min(row + 8, this->m - 1), 0);
#pragma unroll
        for (int i = 0; i < kCount; ++i) acc[i] = either(acc[i], i % 4 < 2 ? upper : lower);
        break;
      }
      case operand_lies::in_columns:
        if (adds) {
          with_pairs<c_type, true>(s, row, col, acc, add);
        } else {
          with_pairs<c_type, true>(s, row, col, acc, multiply);
        }
        break;
      case operand_lies::in_wide_columns:
        if (adds) {
          with_pairs<float, true>(s, row, col, acc, add);
        } else {
          with_pairs<float, true>(s, row, col, acc, multiply);
        }
        break;
      case operand_lies::in_matrix: with_pairs<c_type, false>(s, row, col, acc, add); break;
      default:
        if (s.type == KZOO_F32) {
          with_elements<float>(s, row, col, acc, either, [](float x) { return x; });
        } else {
          with_elements<__half>(s, row, col, acc, either, [f16 = s.type == KZOO_F16](__half x) {
            return f16 ? static_cast<float>(x)
                       : static_cast<float>(reinterpret_cast<const __nv_bfloat16&>(x));
          });
        }
    }
  }

  // acc = f(acc, the operand's value). kVector: the same values for all rows.
  template <class E, bool kVector, int kCount, class F>
  __device__ __forceinline__ void with_pairs(const step& s, int row, int col, float (&acc)[kCount],
                                             F f) const {
    using word = std::conditional_t<sizeof(E) == 2, unsigned, float2>;
    const int left = this->n - col;  // columns
#pragma unroll
    for (int half = 0; half < (kVector ? 1 : 2); ++half) {
      const int r = row + 8 * half;
      const auto* from = static_cast<const word*>(address(s, kVector ? 0 : r, col));
#pragma unroll
      for (int j = 0; j < kCount / 4; ++j) {
        word bits{};
        if (8 * j < left && (kVector || r < this->m)) bits = from[4 * j];
        const auto [x, y] = as_floats<E>(bits);
#pragma unroll
        for (int i = 4 * j + 2 * half; i < 4 * j + (kVector ? 4 : 2 * half + 2); i += 2) {
          acc[i] = f(acc[i], x);
          acc[i + 1] = f(acc[i + 1], y);
        }
      }
    }
  }
  // The same, element by element, of a type that only widen() may know.
  template <class E, int kCount, class F, class Widen>
  __device__ __forceinline__ void with_elements(const step& s, int row, int col,
                                                float (&acc)[kCount], F f, Widen widen) const {
    const int left = this->n - col;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int r = row + 8 * half;
      const auto* from = static_cast<const E*>(address(s, r, col));
#pragma unroll
      for (int j = 0; j < kCount / 4; ++j) {
#pragma unroll
        for (int x = 0; x < 2; ++x) {
          E value{};
          if (8 * j + x < left && r < this->m) value = from[8 * j + x];
          float& at = acc[4 * j + 2 * half + x];
          at = f(at, widen(value));
        }
      }
    }
  }
};

}  // namespace fused_persistent
