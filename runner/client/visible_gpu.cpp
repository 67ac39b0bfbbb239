#include "client/visible_gpu.hpp"

#include "devices/devices.hpp"

#include <algorithm>
#include <cstdlib>

namespace kzoo::client {

namespace {
constexpr const char* kVariable = "CUDA_VISIBLE_DEVICES";
}

std::string visible_alone(std::string_view ours, int ordinal) {
  if (ours.empty()) return std::to_string(ordinal);
  for (int i = 0; i < ordinal; ++i)
    ours.remove_prefix(std::min(ours.find(','), ours.size() - 1) + 1);
  ours = ours.substr(0, ours.find(','));
  const auto first = ours.find_first_not_of(' ');
  if (first == std::string_view::npos) return "";
  return std::string(ours.substr(first, ours.find_last_not_of(' ') + 1 - first));
}

std::string hiding_all_but(const results::device& d) {
  if (d.abi.kind != KZOO_CUDA) return "";
  static const std::size_t gpus = devices::list().size() - 1;  // the first device is the CPU
  if (gpus < 2) return "";
  const char* const ours = std::getenv(kVariable);
  const std::string alone = visible_alone(ours == nullptr ? "" : ours, d.abi.ordinal);
  return alone.empty() ? "" : std::string(kVariable) + '=' + alone;
}

}  // namespace kzoo::client
