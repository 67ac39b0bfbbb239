// A plugin of a later minor ABI version: its structs end with fields unknown to this version.
#include <kzoo/plugin.hpp>

namespace {

struct product {
  using types = kzoo::types<float>;
  void run(const kzoo::gemm<float>& g, kzoo::stream_t) const {
    for (int row = 0; row < g.m; ++row) {
      for (int col = 0; col < g.n; ++col) {
        float sum = 0;
        for (int i = 0; i < g.k; ++i) sum += g.product(g.a_at(row, i), g.b_at(i, col));
        g.store(row, col, sum);
      }
    }
  }
};

struct later_variant {
  kzoo_variant known;
  std::uint64_t appended;
};
struct later_plugin {
  kzoo_plugin known;
  std::uint64_t appended;
};

constexpr later_variant of_later(kzoo_variant v) {
  v.struct_size = sizeof(later_variant);
  return {v, ~0ull};
}
constexpr later_variant kVariants[] = {
    of_later(kzoo::variant<product>("first", "A loop over K")),
    of_later(kzoo::variant<product>("second", "The same, one stride further"))};

}  // namespace

extern "C" __attribute__((visibility("default"))) const later_plugin KZOO_PLUGIN_SYMBOL;
const later_plugin KZOO_PLUGIN_SYMBOL = {
    {sizeof(later_plugin), KZOO_ABI_MINOR + 1, KZOO_TARGET_DEVICE, "later_abi",
     "Written for a later minor version of the ABI", KZOO_BUILD_INFO, &kVariants[0].known, 2,
     sizeof(later_variant), KZOO_NATIVE, 0},
    ~0ull};
