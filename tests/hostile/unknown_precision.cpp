#include <kzoo/plugin.hpp>

namespace {

struct unknown_precision {
  using types = kzoo::types<float>;
  static constexpr kzoo_precision precision = 99;
  void run(const kzoo::gemm<float>&, kzoo::stream_t) const {}
};

}  // namespace

KZOO_PLUGIN("unknown_precision", "Is held to nothing that is known",
            kzoo::variant<unknown_precision>("x", "refused"));
