// A library that claims to be for a GPU, but builds without nvcc. Only its descriptor is ever read.
#include <kzoo/plugin.hpp>

#undef KZOO_TARGET_DEVICE
#define KZOO_TARGET_DEVICE KZOO_CUDA

namespace {

struct other_device {
  using types = kzoo::types<float>;
  void run(const kzoo::gemm<float>&, kzoo::stream_t) const {}
};

}  // namespace

KZOO_PLUGIN("other_device", "For a GPU", kzoo::variant<other_device>("only", "not on the cpu"));
