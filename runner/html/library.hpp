#pragma once
// The charting library: Vega, Vega-Lite and Vega-Embed, as scripts that are put into the page.

#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace kzoo::html {

struct charting_library {
  std::string vega, vega_lite, vega_embed;
};

// From the first of the folders that has all three, minified: vega.js, vega-lite.js, vega-embed.js.
std::optional<charting_library> find_library(std::span<const std::filesystem::path> folders);

}  // namespace kzoo::html
