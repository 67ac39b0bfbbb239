#include "support/catch.hpp"
#include "timing/end_to_end.hpp"

using kzoo::timing::end_to_end;

TEST_CASE("end to end is the median of each phase, and the total is their sum", "[timing]") {
  const end_to_end m = kzoo::timing::medians({{100, 5, 9, 1}, {2, 6, 7, 3}, {1, 4, 8, 2}});
  CHECK(m.allocate_ms == 2);
  CHECK(m.to_device_ms == 5);
  CHECK(m.kernel_ms == 8);
  CHECK(m.to_host_ms == 2);
  CHECK(m.total_ms() == 17);
}
