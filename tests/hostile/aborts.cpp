// A failed assertion while the plugin prepares itself.
#include <kzoo/plugin.hpp>

#include <cstdio>
#include <cstdlib>

namespace {

struct aborts {
  using types = kzoo::types<float>;
  aborts(const kzoo_problem&, const kzoo_device&) {
    std::fputs("giving up\n", stderr);
    std::abort();
  }
  void run(const kzoo::gemm<float>&, kzoo::stream_t) const {}
};

}  // namespace

KZOO_PLUGIN("aborts", "Aborts in create",
            kzoo::variant<aborts>("only", "its last words are on stderr"));
