#pragma once
// The files in which measured peaks of this machine's devices are stored.

#include "devices/devices.hpp"
#include "roofline/peaks.hpp"

#include <filesystem>
#include <optional>

namespace kzoo::cli {

// In $KZOO_CEILINGS, else $XDG_CACHE_HOME/kernel-zoo/ceilings, else ~/.cache/kernel-zoo/ceilings.
// "" if none of the three variables is set. The name consists of the device's and a digest of the
// facts that the peaks depend on.
std::filesystem::path peaks_file(const results::device& d);

// Nothing if they were not measured. Throws input::invalid if the file holds no peaks.
std::optional<roofline::peaks> known_peaks(const results::device& d);

}  // namespace kzoo::cli
