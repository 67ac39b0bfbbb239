#pragma once
// Measurements of this machine's devices: stored peaks, and whether clocks are locked.

#include "devices/devices.hpp"
#include "devices/nvml.hpp"
#include "roofline/roofline.hpp"

#include <filesystem>
#include <optional>
#include <set>

namespace kzoo::setup {

// The file of the device's peaks, in $KZOO_PEAKS, else $XDG_CACHE_HOME/kernel-zoo/peaks, else
// ~/.cache/kernel-zoo/peaks; absent if none is set. The name contains the device's and a digest of
// the facts that peaks depend on.
std::optional<std::filesystem::path> peaks_file(const results::device& d);

// The stored peaks; nothing if they were not measured. Throws input::invalid if the file holds no
// peaks.
std::optional<roofline::peaks> known_peaks(const results::device& d);

// Measures all peaks of the device, reporting each on stderr, and stores them. Throws
// input::invalid without a place for them, not_written, devices::failure.
roofline::peaks measure_peaks(const results::device& d);

// known_peaks(). On a GPU, also measures unknown peaks of `needed`, replaces exceeded peaks, and
// stores both. Discards peaks measured on a busy GPU: valid times would look impossible.
std::optional<roofline::peaks> peaks_of(const results::device& d,
                                        const std::set<roofline::resource>& needed);

// Whether clocks are locked; the runner itself locks none. Keeps a GPU busy for half a second,
// unless it is in use.
devices::clock_lock measure_clock_lock(const results::device& d);
// Adds the fact "clocks" to the device. Throws devices::absent unless they are locked.
void require_locked_clocks(results::device& d);

}  // namespace kzoo::setup
