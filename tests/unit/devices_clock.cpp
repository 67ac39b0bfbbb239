// Timed runs, and the SM clock during them.
#include "devices/backend.hpp"
#include "devices/devices.hpp"
#include "support/catch.hpp"
#include "support/skip.hpp"

using namespace kzoo;

namespace {

// Milliseconds and clock of filling a matrix of n x n.
devices::sample filling(devices::backend& on, std::int64_t n) {
  const data::matrix x{KZOO_F32, data::content::uniform, n, n, n, 1};
  void* buffer = on.allocate(static_cast<std::size_t>(data::word_count(x)) * sizeof(float));
  const devices::sample s = on.time_ms([&] { on.fill(buffer, x); });
  on.release(buffer);
  return s;
}

}  // namespace

TEST_CASE("the CPU has times but no SM clock", "[devices]") {
  const devices::sample s = filling(*devices::open_cpu(), 512);
  CHECK(s.ms > 0);
  CHECK(s.sm_mhz == 0);
}

TEST_CASE("the two clocks disagree if work is not on the stream", "[devices]") {
  CHECK(devices::clocks{4, 2}.disagree());
  CHECK_FALSE(devices::clocks{3, 2}.disagree());        // 1.5 times can be synchronization
  CHECK_FALSE(devices::clocks{0.45, 0.01}.disagree());  // so can less than 0.5 ms
  CHECK_FALSE(devices::clocks{}.disagree());            // not measured
}

TEST_CASE("a sample on a GPU has the SM clock during it", "[devices][.gpu]") {
  test::needs_gpu();
  const results::device gpu = devices::find("cuda:0");
  const auto backend = devices::open(gpu.id);
  for (const std::int64_t n : {16, 16, 4096, 4096, 4096}) {
    const devices::sample s = filling(*backend, n);
    INFO(n << ": " << s.ms << " ms at " << s.sm_mhz << " MHz of " << gpu.highest_mhz);
    CHECK(s.ms > 0);
    // Short ones lie within the flush, which the timer is fine enough for.
    CHECK(s.sm_mhz > 0.1 * gpu.highest_mhz);
    CHECK(s.sm_mhz < 1.02 * gpu.highest_mhz);
  }
}
