// fp32 products on fp16 tensor cores: each element as a sum of two fp16 numbers, each product as
// three, and what that cannot hold on CUDA cores.

#include "launches.hpp"

namespace split_fp16 {

template <int Interval, bool kGuarded>
struct variant : basic_variant<tiling<fp16_pair, 128, 6>, tiling<fp16_pair, 192, 5>> {
  static constexpr kzoo_precision precision =
      kGuarded ? KZOO_COMPUTE_FP32_SPLIT : KZOO_COMPUTE_FP32_NORMWISE;

  variant(const kzoo_problem&, const kzoo_device& d) : basic_variant(d, {Interval, kGuarded}) {}
};

}  // namespace split_fp16

using split_fp16::variant;

KZOO_PLUGIN("split_fp16", "fp32 as sums of two fp16 numbers, three products on tensor cores",
            kzoo::variant<variant<0, true>>(
                "guarded", "promotes sums more seldom the larger K is: every 32 to 256 along K"),
            kzoo::variant<variant<64, true>>("guarded_64", "every 64 along K"),
            kzoo::variant<variant<128, true>>("guarded_128", "every 128"),
            kzoo::variant<variant<256, true>>("guarded_256", "every 256"),
            kzoo::variant<variant<512, true>>("guarded_512", "every 512"),
            kzoo::variant<variant<1024, true>>("guarded_1024", "every 1024"),
            kzoo::variant<variant<64, false>>(
                "unguarded_64",
                "no kernel on CUDA cores: right norm-wise, small elements lose bits"));
