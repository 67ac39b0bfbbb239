// Timed runs, and the clock that they had.
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

TEST_CASE("the cpu has times and tells no clock", "[devices]") {
  const devices::sample s = filling(*devices::open_cpu(), 512);
  CHECK(s.ms > 0);
  CHECK(s.sm_mhz == 0);
}

TEST_CASE("work that is not on the stream sets the two clocks apart", "[devices]") {
  CHECK(devices::clocks{4, 2}.disagree());
  CHECK_FALSE(devices::clocks{3, 2}.disagree());        // half as much again can be the wait
  CHECK_FALSE(devices::clocks{0.45, 0.01}.disagree());  // and so can this
  CHECK_FALSE(devices::clocks{}.disagree());            // nobody asked
}

TEST_CASE("a GPU's sample has the clock that it ran at", "[devices][.gpu]") {
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
