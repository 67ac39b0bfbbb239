// Pointers of the first call kept for all others, as by a tensor map that is built once.
#include "hostile.hpp"

namespace {

__global__ void keeps_pointer_kernel(hostile::gemm g) { hostile::store_product(g); }

enum class which { b, c };

template <which kWhich>
struct keeps_pointer {
  using types = kzoo::types<float>;
  void run(hostile::gemm g, kzoo::stream_t stream) const {
    if (b == nullptr) {
      b = g.b;
      c = g.c;
    }
    if (kWhich == which::b) g.b = b;
    if (kWhich == which::c) g.c = c;
    hostile::launch(keeps_pointer_kernel, g, stream);
  }
  mutable const float* b = nullptr;
  mutable float* c = nullptr;
};

}  // namespace

KZOO_PLUGIN("keeps_pointer", "Uses a pointer of its first call for ever",
            kzoo::variant<keeps_pointer<which::b>>("b", "reads the first B"),
            kzoo::variant<keeps_pointer<which::c>>("c", "writes the first C"));
