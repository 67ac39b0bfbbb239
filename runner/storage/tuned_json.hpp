#pragma once
// The outcome of tuning as JSON, schema kzoo.tuned/1: docs/formats.md describes every field.

#include "os/output.hpp"
#include "results/tuned.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace kzoo::storage {

inline constexpr std::string_view kTunedSchema = "kzoo.tuned/1";

std::string to_text(const results::tuned& t);
nlohmann::ordered_json tuned_schema();
// Throws input::invalid for anything that to_text() does not write.
results::tuned read_tuned(const std::filesystem::path& file);

}  // namespace kzoo::storage
