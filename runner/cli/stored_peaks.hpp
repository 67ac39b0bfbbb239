#pragma once
// Where the ceilings of this machine's devices are kept.

#include "devices/devices.hpp"
#include "roofline/peaks.hpp"

#include <filesystem>
#include <optional>

namespace kzoo::cli {

// In $KZOO_CEILINGS, else $XDG_CACHE_HOME/kernel-zoo/ceilings, else ~/.cache/kernel-zoo/ceilings.
// The name has the device's, and a digest of what else the ceilings hold for.
std::filesystem::path peaks_file(const results::device& d);

// Nothing where they were not measured; throws experiment::invalid for a file that holds none.
std::optional<roofline::peaks> known_peaks(const results::device& d);

}  // namespace kzoo::cli
