#pragma once
// Measured peaks as JSON, in a file and in results; schema kzoo.peaks/1 (docs/formats.md).

#include "roofline/roofline.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>

namespace kzoo::storage {

inline constexpr const char* kPeaksSchema = "kzoo.peaks/1";

// `summary` omits the samples.
enum class detail { all, summary };
nlohmann::ordered_json to_json(const roofline::peaks& c, detail much);
class field;
// Throws input::invalid for anything that to_json() does not write.
roofline::peaks read_peaks(const field& f);

// Throws input::invalid, with a remedy.
roofline::peaks load_peaks(const std::filesystem::path& path);
// Replaces a file only by a complete new file; creates its folders. Throws not_written.
void store_peaks(const roofline::peaks& c, const std::filesystem::path& file);

}  // namespace kzoo::storage
