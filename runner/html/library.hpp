#pragma once
// The charting library: Vega, Vega-Lite and Vega-Embed.

#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace kzoo::html {

struct charting_library {
  std::string script;  // all of it with its licences, for a page
  std::filesystem::path
      folder;  // also has the Python package vl_convert, which draws without a page
};

// From the first of the folders that has charts.js.
std::optional<charting_library> find_library(std::span<const std::filesystem::path> folders);

}  // namespace kzoo::html
