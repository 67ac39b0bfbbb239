// An exception out of a kernel: it must arrive as an error with its text.
#include <kzoo/plugin.hpp>

#include <stdexcept>

namespace {

struct throws {
  using types = kzoo::types<float>;
  void run(const kzoo::gemm<float>&, kzoo::stream_t) const {
    throw std::runtime_error("no luck today");
  }
};

}  // namespace

KZOO_PLUGIN("throws", "Throws in run",
            kzoo::variant<throws>("only", "an exception must not cross the ABI"));
