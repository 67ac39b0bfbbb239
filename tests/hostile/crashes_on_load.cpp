// A static constructor that crashes: the process dies inside dlopen, before any call.
#include <kzoo/plugin.hpp>

namespace {

volatile int* volatile nowhere = nullptr;  // volatile twice, so that the optimiser keeps the access
[[maybe_unused]] const int crash = *nowhere;

struct crashes_on_load {
  using types = kzoo::types<float>;
  void run(const kzoo::gemm<float>&, kzoo::stream_t) const {}
};

}  // namespace

KZOO_PLUGIN("crashes_on_load", "Crashes while it is loaded",
            kzoo::variant<crashes_on_load>("only", "never reached"));
