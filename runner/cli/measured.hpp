#pragma once
// What is measured of this machine's devices: their peaks, which are stored in files, and whether
// their clocks are locked.

#include "devices/clock_lock.hpp"
#include "devices/devices.hpp"
#include "roofline/peaks.hpp"

#include <filesystem>
#include <optional>
#include <set>

namespace kzoo::cli {

// In $KZOO_PEAKS, else $XDG_CACHE_HOME/kernel-zoo/peaks, else ~/.cache/kernel-zoo/peaks.
// "" if none of the three variables is set. The name consists of the device's and a digest of the
// facts that the peaks depend on.
std::filesystem::path peaks_file(const results::device& d);

// Nothing if they were not measured. Throws input::invalid if the file holds no peaks.
std::optional<roofline::peaks> known_peaks(const results::device& d);

// Measures all peaks of the device, naming each on stderr, and stores them. Throws input::invalid
// where there is no place for them, not_written, devices::failure.
roofline::peaks measure_peaks(const results::device& d);

// known_peaks(). On a GPU those of the `needed` resources are measured where they are not known,
// but not used if something else keeps it busy meanwhile, since valid times would look impossible.
// Those that are known are looked at: one that is exceeded now is replaced. What is new is stored.
std::optional<roofline::peaks> peaks_of(const results::device& d,
                                        const std::set<roofline::resource>& needed);

// Whether clocks are locked; the runner itself sets none. Keeps an idle GPU busy for half a second;
// one that other programs use is left alone.
devices::clock_lock measure_clock_lock(const results::device& d);
// Adds the fact "clocks" to the device. Throws devices::absent unless they are locked.
void require_locked_clocks(results::device& d);

}  // namespace kzoo::cli
