#pragma once
// Ceilings as JSON, schema kzoo.ceilings/1: docs/ceilings.md. A file of their own, or part of
// results.

#include "roofline/peaks.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>

namespace kzoo::storage {

inline constexpr const char* kPeaksSchema = "kzoo.ceilings/1";

// A summary has no samples.
enum class detail { all, summary };
nlohmann::ordered_json to_json(const roofline::peaks& c, detail much);
// Throws experiment::invalid for anything that to_json() does not write.
class field;
roofline::peaks read_peaks(const field& f);

// A file of them. Both throw experiment::invalid, with what to do about it.
roofline::peaks load_peaks(const std::filesystem::path& file);
// Replaces what is there only when the new one is whole; makes the folders above it.
void store_peaks(const roofline::peaks& c, const std::filesystem::path& file);

}  // namespace kzoo::storage
