// split_fp16 with another format: each element as a sum of three bf16 numbers, each product as six.

#include <fp32_from_tensor_cores/split_fp16/launches.hpp>

namespace split_bf16 {

using split_fp16::about;
using split_fp16::vector_summary;

// hi + mid + lo have the 24 bits of a float, and bf16 has its exponents: nothing is scaled. What is
// smaller than 2^-24 of a product is left out: mid lo, lo mid and lo lo.
struct triple {
  using element = __nv_bfloat16;
  static constexpr int kParts = 3, kChunk = 64;

  // hi lo, lo hi, mid mid, hi mid, mid hi, hi hi: a digit for each, the first one last.
  static constexpr int kProducts = 6;
  static constexpr __host__ __device__ int a_part(int product) {
    return 0x010120 >> 4 * product & 15;
  }
  static constexpr __host__ __device__ int b_part(int product) {
    return 0x001102 >> 4 * product & 15;
  }

  static __device__ __forceinline__ int exponent_of(unsigned) { return 0; }

  // Whatever is not representable needs fp32, well scaled or not.
  static __device__ __forceinline__ int flags(const vector_summary& t, int) {
    constexpr unsigned kRoundsToInfinity = 0x7f7f8000u;
    return (t.largest >= kRoundsToInfinity ? about::kNotFinite : 0) |
           (t.representable() ? 0 : about::kNotRepresentable | about::kNotWellScaled);
  }

  static __device__ __forceinline__ void split(float x, float y, unsigned (&parts)[kParts]) {
#pragma unroll
    for (unsigned& part : parts) {
      const __nv_bfloat162 both = __floats2bfloat162_rn(x, y);
      std::memcpy(&part, &both, sizeof both);
      const float2 rounded = __bfloat1622float2(both);
      x -= rounded.x;
      y -= rounded.y;
    }
  }

  static __device__ __forceinline__ unsigned count_high(const unsigned (&)[4]) { return 0; }

  // From here on all parts are normal numbers, or zeros.
  static constexpr float kRepresentable = 0x1p-102f;
  static __device__ __forceinline__ bool is_representable(float x, float) {
    return x == 0.0f || fabsf(x) >= kRepresentable;
  }
};

using tiles = split_fp16::tiling<triple, 128, 2>;

struct variant : split_fp16::basic_variant<tiles, tiles> {
  variant(const kzoo_problem&, const kzoo_device& d)
      : basic_variant(d, {.interval = 0, .guarded = true}) {}
};

}  // namespace split_bf16

using split_bf16::variant;

KZOO_PLUGIN("split_bf16", "fp32 as sums of three bf16 numbers, six products on tensor cores",
            kzoo::variant<variant>("guarded", "promotes sums every 64 along K"));
