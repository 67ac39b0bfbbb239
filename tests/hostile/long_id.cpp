// A variant with an id of 101 characters.
#include <kzoo/plugin.hpp>

#define KZOO_TEN "0123456789"

namespace {

struct long_id {
  using types = kzoo::types<float>;
  void run(const kzoo::gemm<float>&, kzoo::stream_t) const {}
};

}  // namespace

KZOO_PLUGIN("long_id", "With an id that is too long",
            kzoo::variant<long_id>(KZOO_TEN KZOO_TEN KZOO_TEN KZOO_TEN KZOO_TEN KZOO_TEN KZOO_TEN
                                       KZOO_TEN KZOO_TEN KZOO_TEN "x",
                                   "refused"));
