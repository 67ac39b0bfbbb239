// Allocates until somebody stops it.
#include <kzoo/plugin.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace {

struct eats_memory {
  using types = kzoo::types<float>;
  void run(const kzoo::gemm<float>&, kzoo::stream_t) const {
    constexpr std::size_t kGigabyte = std::size_t{1} << 30, kMost = 4096;
    std::vector<std::unique_ptr<std::byte[]>> kept;
    while (kept.size() < kMost) kept.emplace_back(new std::byte[kGigabyte]);
    throw kzoo::error(KZOO_ERROR, "nobody stops it at 4 TB");
  }
};

}  // namespace

KZOO_PLUGIN("eats_memory", "Allocates 4 TB",
            kzoo::variant<eats_memory>("only", "must not take the machine's memory"));
