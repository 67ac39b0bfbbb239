// Asked whether it does a problem, it falls over.
#include <kzoo/plugin.hpp>

#include <cstdlib>

namespace {

struct crashes_in_supports {
  using types = kzoo::types<float>;
  static const char* supports(const kzoo_problem&, const kzoo_device&) { std::abort(); }
  void run(const kzoo::gemm<float>&, kzoo::stream_t) const {}
};

}  // namespace

KZOO_PLUGIN("crashes_in_supports", "Aborts in supports",
            kzoo::variant<crashes_in_supports>("only", "before anything is created"));
