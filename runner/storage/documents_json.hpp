#pragma once
// Measured peaks, devices and tuned kernels as JSON (docs/formats.md).

#include "os/output.hpp"
#include "results/plugin.hpp"
#include "results/tuned.hpp"
#include "roofline/roofline.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::storage {

inline constexpr const char* kPeaksSchema = "kzoo.peaks/1";

nlohmann::ordered_json to_json(const roofline::peaks& c);
nlohmann::ordered_json peaks_schema();

// Throws input::invalid, with a remedy.
roofline::peaks load_peaks(const std::filesystem::path& path);
// Replaces a file only by a complete new file; creates its folders. Throws not_written.
void store_peaks(const roofline::peaks& c, const std::filesystem::path& file);

// For `runner devices --json`, schema kzoo.devices/1.
struct described_device {
  results::device device;
  std::optional<roofline::peaks> peaks;
};
std::string to_text(const std::vector<described_device>& all);
nlohmann::ordered_json devices_schema();

// The outcome of tuning as JSON, schema kzoo.tuned/1: docs/formats.md describes every field.

inline constexpr std::string_view kTunedSchema = "kzoo.tuned/1";

std::string to_text(const results::tuned& t);
nlohmann::ordered_json tuned_schema();
// Throws input::invalid for anything that to_text() does not write.
results::tuned read_tuned(const std::filesystem::path& file);

}  // namespace kzoo::storage
