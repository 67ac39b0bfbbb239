// Calls another library for its results: linked to the plugin, or loaded when it runs.
#include <kzoo/plugin.hpp>

#include <dlfcn.h>

extern "C" void stand_in_product(int m, int n, int k, const float* a, int lda, const float* b,
                                 int ldb, float* c, int ldc);

namespace {

const char* only_plain(const kzoo_problem& p, const kzoo_device&) {
  return p.alpha != 1 || p.beta != 0 ? "it takes no alpha and no beta" : nullptr;
}

struct calls_library {
  using types = kzoo::types<float>;
  static constexpr auto supports = only_plain;
  void run(const kzoo::gemm<float>& g, kzoo::stream_t) const {
#ifdef KZOO_LOADED
    static void* const library = dlopen(KZOO_LOADED, RTLD_NOW | RTLD_LOCAL);
    static const auto product =
        reinterpret_cast<decltype(&stand_in_product)>(dlsym(library, "stand_in_product"));
#else
    constexpr auto product = &stand_in_product;
#endif
    product(g.m, g.n, g.k, g.a, g.lda, g.b, g.ldb, g.c, g.ldc);
  }
};

}  // namespace

KZOO_PLUGIN("calls_library", "Lets another library compute",
            kzoo::variant<calls_library>("plain", "says nothing of it"));
