#pragma once
// Whether clocks are locked, measured; the runner itself sets none.

#include "devices/clock_lock.hpp"
#include "results/device.hpp"

namespace kzoo::cli {

// Keeps an idle GPU busy for half a second. One that other programs use is left alone.
devices::clock_lock measure_clock_lock(const results::device& d);

// Adds the fact "clocks" to the device. Throws devices::absent unless they are locked.
void require_locked_clocks(results::device& d);

}  // namespace kzoo::cli
