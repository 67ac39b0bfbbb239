// A library function that ends the program when it does not like something.
#include <kzoo/plugin.hpp>

#include <cstdlib>

namespace {

struct exits {
  using types = kzoo::types<float>;
  void run(const kzoo::gemm<float>&, kzoo::stream_t) const { std::exit(7); }
};

}  // namespace

KZOO_PLUGIN("exits", "Calls exit(7) in run",
            kzoo::variant<exits>("only", "the process is gone without a signal"));
