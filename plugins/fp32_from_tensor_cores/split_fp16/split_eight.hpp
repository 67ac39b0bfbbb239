#pragma once
// Eight neighbours along K: what a thread splits at a time.

#include "parts.hpp"

namespace split_fp16 {

__device__ __forceinline__ unsigned magnitude(float x) { return __float_as_uint(x) & 0x7fffffffu; }

// Eight elements of a vector, neighbours along K, and what they say about it.
template <class Format>
struct split_eight {
  unsigned parts[Format::kParts][4];
  unsigned high;
  bool representable;

  __device__ __forceinline__ split_eight(const float (&x)[8], float scale) {
    float v[8], smallest = Format::kRepresentable;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      v[i] = scale * x[i];
      smallest = fminf(smallest, fabsf(v[i]));
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      unsigned of_two[Format::kParts];
      Format::split(v[2 * i], v[2 * i + 1], of_two);
#pragma unroll
      for (int part = 0; part < Format::kParts; ++part) parts[part][i] = of_two[part];
    }
    high = Format::count_high(parts[0]);
    representable = true;
    if (smallest < Format::kRepresentable) [[unlikely]] {
#pragma unroll
      for (int i = 0; i < 8; ++i)
        representable = representable && Format::is_representable(x[i], v[i]);
    }
  }

  // To a vector whose chunks are `stride` elements apart: an even lane's eight at k0, and those of
  // the odd lane after it at k1, as far as they are below `end`. All lanes of a warp call this.
  // Both are at the same place in their chunks, and neighbours of pairs are neighbours there: so
  // each instruction writes whole lines of 128 bytes.
  __device__ __forceinline__ void store(typename Format::element* vector, std::int64_t stride,
                                        unsigned k0, unsigned k1, unsigned end) const {
    constexpr unsigned kChunk = Format::kChunk;
    const bool odd = threadIdx.x % 2 != 0;
    const auto write = [&](const unsigned(&words)[4], unsigned part, unsigned k) {
      if (k >= end) return;
      auto* to = vector + k / kChunk * stride + part * kChunk + k % kChunk;
      // Said so, since nvcc makes four stores of an assignment here.
      __stcg(reinterpret_cast<uint4*>(to), make_uint4(words[0], words[1], words[2], words[3]));
    };
    if constexpr (Format::kParts * kChunk == 64) {  // a line has two parts: one for each lane
      unsigned first[4], second[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const unsigned other = __shfl_xor_sync(~0u, odd ? parts[0][i] : parts[1][i], 1);
        first[i] = odd ? other : parts[0][i];
        second[i] = odd ? parts[1][i] : other;
      }
      write(first, odd, k0);
      write(second, odd, k1);
    } else {
#pragma unroll
      for (int part = 0; part < Format::kParts; ++part) write(parts[part], part, odd ? k1 : k0);
    }
  }
};

}  // namespace split_fp16
