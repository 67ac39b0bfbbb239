#pragma once
// Ceilings as JSON, schema kzoo.ceilings/1: docs/ceilings.md. A file of their own, or part of
// results.

#include "results/field.hpp"
#include "roofline/ceilings.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>

namespace kzoo::results {

inline constexpr const char* kCeilingsSchema = "kzoo.ceilings/1";

// A summary has no samples.
enum class detail { all, summary };
nlohmann::ordered_json to_json(const roofline::ceilings& c, detail much);
// Throws experiment::invalid for anything that to_json() does not write.
roofline::ceilings read_ceilings(const field& f);

// A file of them. Both throw experiment::invalid, with what to do about it.
roofline::ceilings load_ceilings(const std::filesystem::path& file);
// Replaces what is there only when the new one is whole; makes the folders above it.
void store_ceilings(const roofline::ceilings& c, const std::filesystem::path& file);

}  // namespace kzoo::results
