#include "timing/end_to_end.hpp"

#include "timing/summary.hpp"

namespace kzoo::timing {

end_to_end medians(const std::vector<end_to_end>& runs) {
  const auto median_of = [&](double end_to_end::*part) {
    std::vector<double> times;
    for (const end_to_end& run : runs) times.push_back(run.*part);
    return median(times);
  };
  return {median_of(&end_to_end::allocate_ms), median_of(&end_to_end::to_device_ms),
          median_of(&end_to_end::kernel_ms), median_of(&end_to_end::to_host_ms)};
}

}  // namespace kzoo::timing
