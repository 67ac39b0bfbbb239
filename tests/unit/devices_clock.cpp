// Timed runs, and the SM clock during them.
#include "devices/backend.hpp"
#include "devices/devices.hpp"
#include "support/catch.hpp"
#include "support/skip.hpp"

using namespace kzoo;

namespace {

// Milliseconds and clock of filling a matrix of n x n.
devices::finished_run timed_fill(devices::backend& on, std::int64_t n) {
  const reference::product_check expected(sized(n, n, n), KZOO_COMPUTE_FP32);
  const data::matrix& x = expected.of.c;
  void* buffer = on.allocate(static_cast<std::size_t>(data::word_count(x)) * sizeof(float));
  const devices::finished_run done =
      on.run({.numbers = [] { return std::vector<devices::filled_buffer>(); },
              .call = [&] { on.fill(buffer, x); },
              .fill_between = [] {},
              .output = buffer,
              .expected = [&] { return expected; }},
             devices::start::cold, devices::other_streams::counted);
  on.release(buffer);
  return done;
}

}  // namespace

TEST_CASE("the CPU has times but no SM clock", "[devices]") {
  const devices::finished_run s = timed_fill(*devices::open_cpu(), 512);
  CHECK(s.ms > 0);
  CHECK(s.sm_mhz == 0);
}

TEST_CASE("a sample on a GPU has the SM clock during it", "[devices][.gpu]") {
  test::needs_gpu();
  const results::device gpu = devices::find("cuda:0");
  const auto backend = devices::open(gpu.id);
  for (const std::int64_t n : {16, 16, 4096, 4096, 4096}) {
    const devices::finished_run s = timed_fill(*backend, n);
    INFO(n << ": " << s.ms << " ms at " << s.sm_mhz << " MHz of " << gpu.highest_mhz);
    CHECK(s.ms > 0);
    // Short ones lie within the flush, which the timer is fine enough for.
    CHECK(s.sm_mhz > 0.1 * gpu.highest_mhz);
    CHECK(s.sm_mhz < 1.02 * gpu.highest_mhz);
  }
}
