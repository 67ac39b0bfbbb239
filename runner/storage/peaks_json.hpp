#pragma once
// Measured peaks as JSON, schema kzoo.peaks/1: docs/formats.md. They are in a file of their own
// and in results.

#include "roofline/peaks.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>

namespace kzoo::storage {

inline constexpr const char* kPeaksSchema = "kzoo.peaks/1";

// `summary` leaves the samples out.
enum class detail { all, summary };
nlohmann::ordered_json to_json(const roofline::peaks& c, detail much);
class field;
// Throws input::invalid for anything that to_json() does not write.
roofline::peaks read_peaks(const field& f);

// A file of peaks. Throws input::invalid, with what to do about it.
roofline::peaks load_peaks(const std::filesystem::path& path);
// Replaces an existing file only once the new one is complete; creates the folders above it. Throws
// not_written, with what to do about it.
void store_peaks(const roofline::peaks& c, const std::filesystem::path& file);

}  // namespace kzoo::storage
